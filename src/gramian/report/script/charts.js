
// All charts but the map. Each draws itself if the data hold something for it.

function drawChart(id, traces, extra) {
  return Plotly.react(id, traces, layout({ dragmode: false, margin: { l: 64, r: 12, t: 30, b: 52 }, ...extra }), CONFIG);
}

const LEGEND = { orientation: "h", x: 1, xanchor: "right", y: 1.02, yanchor: "bottom" };
const percent = (share) => `${(100 * share).toFixed(1)}%`;

function drawScree() {
  const scree = data.scree;
  if (!scree) return null;
  const { ink, soft } = look();
  const known = scree.shares.every((share) => share !== null);
  const few = scree.names.length <= 12 && innerWidth > 640;
  const bars = {
    type: "bar",
    x: scree.names,
    y: known ? scree.shares : scree.values,
    text: known && few && !scree.chance ? scree.shares.map(percent) : undefined,
    // Inside a tall bar, above a low one; the first low one would meet the cumulative line.
    textposition: scree.shares.map((share, i) => (share > 0.15 ? "inside" : i ? "outside" : "none")),
    insidetextanchor: "end",
    textangle: 0,
    insidetextfont: { color: "#fff" },
    outsidetextfont: { color: soft },
    cliponaxis: false,
    hovertext: scree.names.map((name, i) => `<b>${name}</b><br>eigenvalue: ${short(scree.values[i])}` +
      (known ? `<br>share: ${percent(scree.shares[i])}<br>cumulative: ${percent(scree.cumulative[i])}` : "")),
    hoverinfo: "text",
    name: known ? "share" : "eigenvalue",
    marker: { color: data.palette[0] },
  };
  const line = {
    type: "scatter",
    mode: "lines+markers",
    x: scree.names,
    y: scree.cumulative,
    hoverinfo: "skip",
    name: "cumulative",
    line: { color: data.palette[1], width: 2 },
    marker: { color: data.palette[1], size: 7, symbol: "diamond" },
  };
  const figure = layout({
    xaxis: axis("", { type: "category", fixedrange: true, showgrid: false }),
    yaxis: axis(known ? "share of the total" : "eigenvalue", {
      fixedrange: true,
      ...(known ? { tickformat: ".0%", range: [0, 1.08], dtick: 0.2 } : {}),
    }),
    showlegend: known || scree.chance !== null,
    legend: { orientation: "h", x: 1, xanchor: "right", y: 1.02, yanchor: "bottom", font: { color: ink } },
    margin: { l: 56, r: 12, t: 36, b: 40 },
    bargap: 0.35,
    dragmode: false,
  });
  const traces = [...chanceTraces(scree), bars, ...(known ? [line] : [])];
  return Plotly.react("scree-chart", traces, figure, CONFIG);
}

// Horn's band: where eigenvalues of unrelated variables would lie, 5% to 95%.
function chanceTraces({ names, chance }) {
  if (!chance) return [];
  const x = names.slice(0, chance.high.length);
  const edge = { type: "scatter", mode: "lines", x, hoverinfo: "skip", line: { width: 0 }, showlegend: false };
  const color = look().soft;
  return [
    { ...edge, y: chance.low },
    { ...edge, y: chance.high, fill: "tonexty", fillcolor: `${color}40` },
    {
      type: "scatter", mode: "lines+markers", x, y: chance.middle, name: "by chance (Horn)",
      line: { color, width: 1.5, dash: "dot" }, marker: { color, size: 5 },
      hovertext: x.map((name, i) => `<b>${name}</b> by chance: ${short(chance.low[i])} to ${short(chance.high[i])}`),
      hoverinfo: "text",
    },
  ];
}

function drawSpectrum() {
  const spectrum = data.spectrum;
  if (!spectrum) return null;
  const negative = spectrum.values.map((value) => value < 0);
  const side = (wanted, name, color, symbol) => ({
    type: "scatter", mode: "markers", name,
    x: spectrum.ranks.filter((_, i) => negative[i] === wanted),
    y: spectrum.values.filter((_, i) => negative[i] === wanted),
    marker: { color, symbol, size: spectrum.values.length > 100 ? 5 : 8 },
    hovertemplate: "eigenvalue %{x}: %{y:.4g}<extra></extra>",
  });
  return drawChart(
    "spectrum-chart",
    [side(false, "positive or zero", data.palette[0], "circle"), side(true, "negative", data.palette[1], "triangle-down")],
    { xaxis: axis("rank", { fixedrange: true }), yaxis: axis("eigenvalue", { fixedrange: true }), showlegend: true, legend: LEGEND },
  );
}

function drawResidual() {
  const values = data.residual;
  if (!values) return null;
  const trace = {
    type: "scatter", mode: "lines+markers", x: values.map((_, i) => i + 1), y: values,
    line: { color: data.palette[0], width: 2 }, marker: { color: data.palette[0], size: 8 },
    hovertemplate: "%{x} axes leave %{y:.1%}<extra></extra>",
  };
  return drawChart("residual-chart", [trace], {
    xaxis: axis("axes of the map", { fixedrange: true, dtick: values.length > 15 ? undefined : 1 }),
    yaxis: axis("residual variance", { fixedrange: true, tickformat: ".0%", rangemode: "tozero" }),
  });
}

function drawShepard() {
  const pairs = data.shepard;
  if (!pairs) return null;
  const cloud = {
    type: "scatter", mode: "markers", name: "pairs", x: pairs.given, y: pairs.shown,
    marker: { color: data.palette[0], size: 5, opacity: pairs.given.length > 300 ? 0.4 : 0.7 },
    hovertemplate: "given %{x:.4g}, in the map %{y:.4g}<extra></extra>",
  };
  const [low, high] = span([...pairs.given, ...pairs.shown]);
  const sorted = pairs.given.map((_, i) => i).sort((i, j) => pairs.given[i] - pairs.given[j]);
  const target = pairs.fitted
    ? { x: sorted.map((i) => pairs.given[i]), y: sorted.map((i) => pairs.fitted[i]), name: "fitted" }
    : { x: [low, high], y: [low, high], name: "equal" };
  const line = { type: "scatter", mode: "lines", hoverinfo: "skip", line: { color: data.palette[1], width: 2 }, ...target };
  return drawChart("shepard-chart", [cloud, line], {
    xaxis: axis("given dissimilarity", { fixedrange: true, rangemode: "tozero" }),
    yaxis: axis("distance in the map", { fixedrange: true, rangemode: "tozero" }),
    showlegend: true,
    legend: LEGEND,
  });
}

// Horizontal bars, the largest on top, with a dashed line where all would be equal.
function drawBars(id, names, values, even, title) {
  const texts = names.map((name) => clipped(name, 22));
  const trace = {
    type: "bar", orientation: "h", x: values, y: names.map((_, i) => i),
    marker: { color: values.map((value) => (value > even ? data.palette[0] : look().line)) },
    hovertext: names.map((name, i) => `<b>${name}</b>: ${percent(values[i])}`),
    hoverinfo: "text",
  };
  const longest = Math.max(...texts.map((text) => plain(text).length));
  return drawChart(id, [trace], {
    xaxis: axis(title, { fixedrange: true, tickformat: ".0%", rangemode: "tozero" }),
    yaxis: axis("", { fixedrange: true, autorange: "reversed", tickvals: names.map((_, i) => i), ticktext: texts, showgrid: false }),
    margin: { l: 20 + 7 * longest, r: 16, t: 12, b: 52 },
    shapes: [{ type: "line", x0: even, x1: even, yref: "paper", y0: 0, y1: 1, line: { color: look().ink, width: 1.5, dash: "dash" } }],
    bargap: 0.3,
  });
}

function drawStress() {
  return data.stress && drawBars("stress-chart", data.stress.names, data.stress.values, data.stress.even, "share of the misfit");
}

const MOST_BARS = 15;

function drawContributions() {
  if (!$("contributions-chart")) return null;
  const a = Number($("contributions-axis").value);
  const { names: variables, loadings, total } = data.variables;
  const bars = loadings
    .map((row, j) => ({ name: variables[j], share: row[a] ** 2 }))
    .sort((p, q) => q.share - p.share)
    .slice(0, MOST_BARS);
  const said = `${plain(data.axes[a].name)} is made most by ${bars.slice(0, 3).map((b) => `${plain(b.name)} (${percent(b.share)})`).join(", ")}.`;
  $("contributions-chart").setAttribute("aria-label", said);
  $("contributions-chart").previousElementSibling.textContent = said;
  return drawBars("contributions-chart", bars.map((b) => b.name), bars.map((b) => b.share), 1 / total, `share of ${data.axes[a].name}`);
}

const MOST_ARROWS = 30;
const EDGE = 1.2;

function drawCircle() {
  const variables = data.variables;
  if (!variables || single) return null;
  const { soft, line } = look();
  const a = state.x;
  const b = state.y === state.x ? (state.x ? 0 : 1) : state.y;
  const arrows = variables.correlations
    .map((row, j) => ({ name: variables.names[j], x: row[a], y: row[b] }))
    .sort((p, q) => Math.hypot(q.x, q.y) - Math.hypot(p.x, p.y))
    .slice(0, MOST_ARROWS);
  const tips = {
    type: "scatter",
    mode: "markers",
    x: arrows.map((p) => p.x),
    y: arrows.map((p) => p.y),
    hovertext: arrows.map((p) => `<b>${p.name}</b><br>${data.axes[a].name}: ${p.x.toFixed(3)}<br>${data.axes[b].name}: ${p.y.toFixed(3)}`),
    hoverinfo: "text",
    marker: { size: 12, color: "rgba(0,0,0,0)" },
  };
  const shafts = arrows.map((p) => ({
    x: p.x, y: p.y, ax: 0, ay: 0, xref: "x", yref: "y", axref: "x", ayref: "y",
    text: "", showarrow: true, arrowhead: 2, arrowwidth: 1.8, arrowsize: 1.1, arrowcolor: data.palette[0],
  }));
  const figure = layout({
    xaxis: axis(data.axes[a].title, { range: [-EDGE, EDGE], fixedrange: true, dtick: 0.5, constrain: "domain" }),
    yaxis: axis(data.axes[b].title, { range: [-EDGE, EDGE], fixedrange: true, dtick: 0.5, scaleanchor: "x", constrain: "domain" }),
    shapes: [
      { type: "circle", x0: -1, y0: -1, x1: 1, y1: 1, line: { color: soft, width: 1.2 } },
      { type: "circle", x0: -0.5, y0: -0.5, x1: 0.5, y1: 0.5, line: { color: line, width: 1, dash: "dot" } },
    ],
    annotations: [...shafts, ...names(arrows)],
    dragmode: false,
  });
  return Plotly.react("circle-chart", [tips], figure, CONFIG);
}

// Names at the arrow tips, inside the frame; in each quarter they are pushed outward until none
// covers another.
function names(arrows) {
  const { ink, paper } = look();
  const chart = $("circle-chart");
  const pixels = Math.min(chart.clientWidth - MARGIN.l - MARGIN.r, chart.clientHeight - MARGIN.t - MARGIN.b);
  const unit = Math.max(150, pixels) / (2 * EDGE);
  const gap = 18 / unit;
  const placed = [];
  for (const sign of [-1, 1])
    for (const half of [-1, 1]) {
      const here = arrows
        .filter((p) => (p.x < 0 ? -1 : 1) === sign && (p.y < 0 ? -1 : 1) === half)
        .sort((p, q) => Math.abs(p.y) - Math.abs(q.y));
      let level = -Infinity;
      const heights = here.map((p) => (level = Math.max(Math.abs(p.y) + 0.08, level + gap)));
      const overflow = Math.max(0, level - EDGE + gap / 2);
      here.forEach((p, i) => placed.push({ ...p, sign, height: half * (heights[i] - overflow) }));
    }
  return placed.map((p) => {
    const text = clipped(p.name, 20);
    const room = EDGE - (7.2 * plain(text).length) / unit;
    return {
      x: p.sign * Math.min(Math.abs(p.x) + 0.03, room),
      y: p.height,
      text,
      showarrow: false,
      xanchor: p.sign < 0 ? "right" : "left",
      yanchor: "middle",
      font: { color: ink, size: 13 },
      bgcolor: `${paper}80`, // half transparent: an arrow below stays visible
      borderpad: 0,
    };
  });
}
