
// The map: points, rings around what was found, labels, arrows of variables, edges of a graph.

// Plotly keeps an element per point, and its WebGL traces compile code from strings, which the
// policy of this page forbids. Beyond this many points, and in space, we paint them ourselves.
const painted = () => state.space || drawn > 10000;

const order = Float64Array.from({ length: drawn }, (_, i) => rowNumber(i));
const across = () => (state.space ? turned().x : coordinates[state.x]);
const up = () => (state.space ? turned().y : single ? order : coordinates[state.y]);
const upTitle = () => (single ? "row" : data.axes[state.y].title);
const shownAxes = () => [...new Set(single ? [0] : state.space ? [state.x, state.y, state.z] : [state.x, state.y])];
const colored = () => data.columns[state.color];
const visible = (i) => colored()?.kind !== "groups" || !state.hidden.has(colored().codes[i]);
const written = (i) => (state.label < 0 ? label(i) : String(cell(data.columns[state.label], i)));

function hover(i) {
  const lines = [`<b>${label(i)}</b>`];
  for (const a of shownAxes()) lines.push(`${data.axes[a].name}: ${short(coordinates[a][i])}`);
  for (const column of data.columns.slice(0, 6)) lines.push(`${column.name}: ${cell(column, i)}`);
  return lines.join("<br>");
}

function points(indices, marker, name) {
  const x = across();
  const y = up();
  const selectedpoints = state.picked.size
    ? indices.flatMap((i, at) => (state.picked.has(i) ? [at] : []))
    : undefined;
  return {
    type: "scatter",
    mode: "markers",
    x: indices.map((i) => x[i]),
    y: indices.map((i) => y[i]),
    hovertext: indices.map(hover),
    hoverinfo: "text",
    name,
    marker: { size, opacity, line: outline(false), ...marker },
    selectedpoints,
    unselected: { marker: { opacity: 0.15 } },
  };
}

function groupTraces(column) {
  const members = column.levels.map(() => []);
  for (const i of all) members[column.codes[i]].push(i);
  return members.map((indices, code) => {
    const color = groupColor(code);
    const marker = {
      color,
      symbol: SYMBOLS[code % SYMBOLS.length],
      size: size * SCALES[code % SCALES.length],
      line: outline(color === PALE),
    };
    return { ...points(indices, marker, column.levels[code]), visible: !state.hidden.has(code) };
  });
}

function numberTraces(column) {
  const present = all.filter((i) => Number.isFinite(column.values[i]));
  const absent = all.filter((i) => !Number.isFinite(column.values[i]));
  const colors = {
    color: present.map((i) => column.values[i]),
    colorscale: VIRIDIS.map((color, i) => [i / (VIRIDIS.length - 1), color]),
    line: outline(true),
  };
  return [
    points(absent, { color: look().soft, symbol: "x-thin-open" }, "missing"),
    points(present, colors, column.name),
  ];
}

function pointTraces() {
  const column = colored();
  if (painted()) return [frame()];
  if (!column) return [points(all, { color: data.palette[0] }, "")];
  return column.kind === "groups" ? groupTraces(column) : numberTraces(column);
}

// Two invisible points that span what is painted, so that Plotly finds the ranges.
function frame() {
  const [x, y] = state.space ? [[-1, 1], [-1, 1]].map((s) => s.map((v) => v * turned().radius)) : [span(across()), span(up())];
  return { type: "scatter", mode: "markers", x, y, hoverinfo: "skip", marker: { opacity: 0, size }, showlegend: false };
}

function graphTraces() {
  if (!state.graph || painted()) return [];
  const [x, y] = [across(), up()].map((values) =>
    Array.from({ length: (edges.length / 2) * 3 }, (_, t) => (t % 3 === 2 ? null : values[edges[Math.floor(t / 3) * 2 + (t % 3)]])),
  );
  const line = { color: look().line, width: 1 };
  return [{ type: "scatter", mode: "lines", x, y, line, hoverinfo: "skip", showlegend: false }];
}

// ------------------------------------------------------------------ names at points

const MOST_LABELS = 80;

// Names of points in view, as many as do not cover each other.
function labelTrace() {
  const none = { type: "scatter", mode: "text", x: [], y: [], text: [], hoverinfo: "skip", showlegend: false };
  if (state.label < -1) return none;
  const chart = $("map-chart");
  const x = across();
  const y = up();
  const [[x0, x1], [y0, y1]] = chart.layout?.xaxis?.range
    ? [chart.layout.xaxis.range, chart.layout.yaxis.range]
    : [span(x), span(y)];
  const { width, height } = plotArea(chart);
  const taken = [];
  for (const i of all) {
    if (taken.length >= MOST_LABELS) break;
    if (!visible(i) || x[i] < x0 || x[i] > x1 || y[i] < y0 || y[i] > y1) continue;
    const text = written(i);
    const half = 3.6 * Math.min(plain(text).length, 24) + 3;
    const left = ((x[i] - x0) / (x1 - x0)) * width;
    const top = ((y1 - y[i]) / (y1 - y0)) * height;
    if (taken.some((t) => Math.abs(t.left - left) < half + t.half && Math.abs(t.top - top) < 15)) continue;
    taken.push({ left, top, half, i, text: clipped(text, 24) });
  }
  return {
    ...none,
    x: taken.map((t) => x[t.i]),
    y: taken.map((t) => y[t.i]),
    text: taken.map((t) => t.text),
    textposition: "top center",
    textfont: { color: look().ink, size: 12 },
  };
}

function clipped(text, most) {
  const whole = plain(text);
  return whole.length > most ? forPlotly(`${whole.slice(0, most - 1)}…`) : text;
}

function plotArea(chart) {
  return {
    width: Math.max(1, chart.clientWidth - MARGIN.l - MARGIN.r),
    height: Math.max(1, chart.clientHeight - MARGIN.t - MARGIN.b),
  };
}

// ------------------------------------------------------------------ search

function matches() {
  const query = state.query.trim().toLowerCase();
  if (!query) return [];
  if (!data.labels && state.label < 0) {
    const wanted = Number(query.replace(/^row\s*/, ""));
    return all.filter((i) => rowNumber(i) === wanted);
  }
  const holds = (text) => plain(text).toLowerCase().includes(query);
  return all.filter((i) => holds(label(i)) || (state.label >= 0 && holds(written(i))));
}

function found(indices) {
  const x = across();
  const y = up();
  const { ink, paper, line } = look();
  const ring = {
    type: "scatter",
    mode: "markers",
    x: indices.map((i) => x[i]),
    y: indices.map((i) => y[i]),
    hoverinfo: "skip",
    marker: { size: size + 9, color: "rgba(0,0,0,0)", line: { width: 2.5, color: ink } },
  };
  const annotations = indices.slice(0, 8).map((i) => ({
    x: x[i], y: y[i], text: label(i), showarrow: true, arrowhead: 0, arrowcolor: ink, ax: 0, ay: -32,
    font: { color: ink, size: 13 }, bgcolor: paper, bordercolor: line, borderpad: 3,
  }));
  return { ring, annotations };
}

function report(indices) {
  const query = state.query.trim();
  const names = indices.slice(0, 5).map((i) => plain(label(i)));
  const more = indices.length > 5 ? ` and ${indices.length - 5} more` : "";
  $("map-found").textContent = !query
    ? ""
    : indices.length
      ? `Found ${indices.length}: ${names.join(", ")}${more}. Press Enter to list.`
      : `No point matches “${query}”.`;
}

// ------------------------------------------------------------------ variables as arrows

const MOST_MAP_ARROWS = 12;

function mapArrows() {
  const variables = data.variables;
  if (!state.arrows || !variables) return [];
  const used = state.space ? [state.x, state.y, state.z] : [state.x, state.y];
  const largest = (values) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const room = used.map((a) => largest(coordinates[a]) / (largest(variables.loadings.map((row) => row[a])) || 1));
  const factor = 0.9 * Math.min(...room);
  const at = (row) => used.map((a) => factor * row[a]);
  const place = (values) => (state.space ? turned().place(values) : values);
  const [ox, oy] = place(used.map(() => 0));
  const color = data.palette[1];
  return variables.loadings
    .map((row, j) => ({ name: variables.names[j], to: at(row) }))
    .sort((p, q) => Math.hypot(...q.to) - Math.hypot(...p.to))
    .slice(0, MOST_MAP_ARROWS)
    .flatMap(({ name, to }) => {
      const [x, y] = place(to);
      return [
        { x, y, ax: ox, ay: oy, xref: "x", yref: "y", axref: "x", ayref: "y", text: "", showarrow: true, arrowhead: 2, arrowwidth: 2, arrowcolor: color },
        {
          x, y, text: clipped(name, 20), showarrow: false, font: { color: look().ink, size: 13 },
          bgcolor: `${look().paper}b0`, borderpad: 1, xanchor: x < ox ? "right" : "left", yanchor: y < oy ? "top" : "bottom",
        },
      ];
    });
}

// ------------------------------------------------------------------ the figure

function mapFigure() {
  const { ring, annotations } = found(matches());
  const free = !state.space && (single || !state.equal);
  const bare = { visible: false, range: [-turnedRadius(), turnedRadius()] };
  const grid = painted() ? { showgrid: false, zeroline: false } : {};
  const figure = layout({
    xaxis: state.space ? bare : axis(data.axes[state.x].title, grid),
    yaxis: {
      ...(state.space ? { ...bare } : axis(upTitle(), grid)),
      ...(free ? {} : { scaleanchor: "x", scaleratio: 1 }),
    },
    annotations: [...(state.space ? spaceAxes() : []), ...mapArrows(), ...annotations],
    dragmode: state.lasso ? "lasso" : touch || state.space ? false : "zoom",
    selections: [],
    selectionrevision: state.picked.size,
    uirevision: state.space ? `space ${state.x} ${state.y} ${state.z}` : `${state.x} ${state.y} ${free}`,
  });
  return { data: [...graphTraces(), ...pointTraces(), labelTrace(), ring], layout: figure };
}

const turnedRadius = () => (state.space ? turned().radius : 1);

async function drawMap() {
  const figure = mapFigure();
  await Plotly.react("map-chart", figure.data, figure.layout, CONFIG);
  paint();
}

function describeMap() {
  const colors = colored() ? `, colored by ${plain(colored().name)}` : "";
  const deep = state.space ? `, ${plain(data.axes[state.z].title)} toward you` : "";
  const now =
    `Map of ${data.n.toLocaleString("en")} observations: ` +
    `${plain(data.axes[state.x].title)} across, ${plain(upTitle())} up${deep}${colors}.`;
  const first = !state.space && state.x === 0 && (single || state.y === 1) && state.color === data.color;
  $("map-sentence").textContent = first ? sentence : now;
  $("map-chart").setAttribute("aria-label", first ? sentence : now);
}

const sentence = $("map-sentence").textContent;

function zoom(factor) {
  const { xaxis, yaxis } = $("map-chart").layout;
  const scaled = ([low, high]) => {
    const center = (low + high) / 2;
    const half = ((high - low) / 2) * factor;
    return [center - half, center + half];
  };
  Plotly.relayout("map-chart", { "xaxis.range": scaled(xaxis.range), "yaxis.range": scaled(yaxis.range) });
}

function showAll() {
  const range = [-turnedRadius(), turnedRadius()];
  Plotly.relayout(
    "map-chart",
    state.space ? { "xaxis.range": range, "yaxis.range": range } : { "xaxis.autorange": true, "yaxis.autorange": true },
  );
}

// ------------------------------------------------------------------ legend

function drawLegend() {
  const column = colored();
  const legend = $("map-legend");
  legend.replaceChildren();
  if (column?.kind === "groups") column.levels.forEach((level, code) => legend.append(groupButton(level, code)));
  if (column?.kind === "numbers") legend.append(...ramp(column));
}

function groupButton(level, code) {
  const button = make("button", undefined, { type: "button", title: "Show or hide this group" });
  const press = () => button.setAttribute("aria-pressed", String(!state.hidden.has(code)));
  button.append(glyph(code), plain(level));
  button.addEventListener("click", () => {
    if (!state.hidden.delete(code)) state.hidden.add(code);
    press();
    drawMap();
  });
  press();
  return button;
}

function ramp(column) {
  const [low, high] = span(column.values);
  const bar = make("span", undefined, { className: "ramp" });
  bar.style.background = `linear-gradient(to right, ${VIRIDIS.join(", ")})`;
  return [`${plain(column.name)}: ${short(low)}`, bar, short(high)];
}

function glyph(code) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  for (const [key, value] of [["width", 14], ["height", 14], ["viewBox", "0 0 16 16"], ["aria-hidden", "true"]])
    svg.setAttribute(key, value);
  path.setAttribute("d", OUTLINES[code % OUTLINES.length]);
  path.setAttribute("fill", groupColor(code));
  svg.append(path);
  return svg;
}
