
// Listen, and draw for the first time.

function drawAll() {
  return Promise.all([
    drawMap(), drawScree(), drawSpectrum(), drawResidual(), drawShepard(), drawStress(), drawCircle(), drawContributions(),
  ]);
}

function on(id, event, action) {
  $(id)?.addEventListener(event, action);
}

function changeAxes() {
  for (const a of ["x", "y", "z"]) if ($(`map-${a}`)) state[a] = Number($(`map-${a}`).value);
  describeMap();
  drawMap();
  drawCircle();
}

function changeView() {
  state.space = $("map-view-space").checked;
  $("map-turns").hidden = !state.space;
  $("map-z").parentElement.hidden = !state.space;
  $("map-drag-zoom").nextElementSibling.textContent = state.space ? "turn" : "zoom";
  $("map-stage").classList.toggle("space", state.space);
  describeMap();
  drawMap();
}

function changeDrag() {
  state.lasso = $("map-drag-lasso").checked;
  drawMap();
}

for (const a of ["x", "y", "z"]) on(`map-${a}`, "change", changeAxes);
on("map-color", "change", () => {
  state.color = Number($("map-color").value);
  state.hidden.clear();
  describeMap();
  drawLegend();
  drawMap();
});
on("map-label", "change", () => {
  state.label = Number($("map-label").value);
  drawMap();
});
for (const box of ["equal", "arrows", "graph"])
  on(`map-${box}`, "change", () => {
    state[box] = $(`map-${box}`).checked;
    drawMap();
  });
for (const view of ["flat", "space"]) on(`map-view-${view}`, "change", changeView);
for (const drag of ["zoom", "lasso"]) on(`map-drag-${drag}`, "change", changeDrag);
on("map-search", "input", () => {
  state.query = $("map-search").value;
  report(matches());
  drawMap();
});
on("map-search", "keydown", (event) => {
  if (event.key === "Enter" && matches().length) pick(matches());
});
on("turn-left", "click", () => turnBy(-0.2, 0));
on("turn-right", "click", () => turnBy(0.2, 0));
on("turn-up", "click", () => turnBy(0, -0.2));
on("turn-down", "click", () => turnBy(0, 0.2));
on("zoom-in", "click", () => zoom(0.6));
on("zoom-out", "click", () => zoom(1 / 0.6));
on("zoom-reset", "click", showAll);
on("save-csv", "click", () => csv(all, ""));
on("save-png", "click", () => saveMap("png"));
on("save-svg", "click", () => saveMap("svg"));
on("contributions-axis", "change", drawContributions);
for (const button of document.querySelectorAll("[data-save]"))
  button.addEventListener("click", () => saveChart(button.dataset.save, button.dataset.kind));
document.querySelectorAll("table.sortable").forEach(makeSortable);

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  drawLegend();
  drawAll();
});
const forPaper = (now) => () => {
  printing = now;
  document.documentElement.classList.toggle("printing", now);
  drawLegend();
  drawAll();
};
addEventListener("beforeprint", forPaper(true));
addEventListener("afterprint", forPaper(false));

if ($("map-z")) $("map-z").parentElement.hidden = true;
for (const chart of document.querySelectorAll(".chart")) chart.replaceChildren();
drawLegend();
drawAll().then(() => {
  const [stage, chart] = [$("map-stage"), $("map-chart")];
  hoverOver(stage, chart);
  turnByDragging(stage);
  chart.on("plotly_afterplot", paint);
  chart.on("plotly_selected", lassoed);
  chart.on("plotly_deselect", () => state.picked.size && pick([]));
  // Which labels fit depends on what is in view.
  chart.on("plotly_relayout", (changed) => {
    if (state.label >= -1 && Object.keys(changed).some((key) => key.includes("axis"))) drawMap();
  });
  if (state.label >= -1) drawMap();
  document.documentElement.setAttribute("data-drawn", "");
});
