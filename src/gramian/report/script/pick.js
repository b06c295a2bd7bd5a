
// Selected points: those inside a lasso, or those a search found. They stand out, are listed, and
// can be saved.

const MOST_LISTED = 200;

// Whether (a, b) lies inside a polygon: a ray from it crosses the outline an odd number of times.
function inside(a, b, xs, ys) {
  let odd = false;
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++)
    if (ys[i] > b !== ys[j] > b && a < ((xs[j] - xs[i]) * (b - ys[i])) / (ys[j] - ys[i]) + xs[i]) odd = !odd;
  return odd;
}

function pick(indices) {
  state.picked = new Set(indices);
  listPicked();
  return drawMap();
}

function lassoed(event) {
  const outline = event?.lassoPoints;
  if (!outline) return;
  const x = across();
  const y = up();
  pick(all.filter((i) => visible(i) && inside(x[i], y[i], outline.x, outline.y)));
}

function listPicked() {
  const place = $("map-picked");
  const chosen = [...state.picked];
  if (!chosen.length) {
    place.replaceChildren();
    return;
  }
  const heading = make("h3", `${chosen.length.toLocaleString("en")} ${chosen.length === 1 ? "point" : "points"} selected`);
  const save = make("button", "Save these (CSV)", { type: "button", id: "picked-csv" });
  save.addEventListener("click", () => csv(chosen, "-selected"));
  const clear = make("button", "Clear", { type: "button", id: "picked-clear" });
  clear.addEventListener("click", () => {
    pick([]);
    $("map-search").focus();
  });
  const tools = make("div", undefined, { className: "tools" });
  tools.append(save, clear);
  place.replaceChildren(heading, tools, pickedTable(chosen));
}

function pickedTable(chosen) {
  const axes = shownAxes();
  const columns = data.columns.slice(0, 4);
  const some = chosen.length > MOST_LISTED ? `: the first ${MOST_LISTED}` : "";
  const table = make("table", undefined, { className: "sortable" });
  const head = table.createTHead().insertRow();
  for (const name of ["point", ...axes.map((a) => data.axes[a].name), ...columns.map((c) => c.name)])
    head.append(make("th", plain(name), { scope: "col" }));
  const body = table.createTBody();
  for (const i of chosen.slice(0, MOST_LISTED)) {
    const row = body.insertRow();
    row.append(make("th", plain(label(i)), { scope: "row" }));
    for (const a of axes) row.append(make("td", short(coordinates[a][i])));
    for (const column of columns) row.append(make("td", plain(String(cell(column, i)))));
  }
  table.createCaption().textContent = `Selected points${some}`;
  makeSortable(table);
  const scroll = make("div", undefined, { className: "scroll", tabIndex: 0, role: "region" });
  scroll.setAttribute("aria-label", "Selected points");
  scroll.append(table);
  return scroll;
}
