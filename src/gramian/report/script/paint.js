
// Many points, and points in space, are painted on a canvas that lies behind Plotly's axes. Hover
// is a search for the nearest.

const canvas = $("map-canvas");
const GRID = { width: 160, height: 120 };

function view(chart) {
  const { xaxis, yaxis } = chart.layout;
  return { x: xaxis.range, y: yaxis.range, ...plotArea(chart) };
}

// One small picture of each marker, stamped wherever it is needed.
function stamp(color, code, pale, ratio) {
  const mark = document.createElement("canvas");
  const side = size * 1.5 * ratio;
  mark.width = mark.height = Math.ceil(side);
  const pen = mark.getContext("2d");
  const line = outline(pale);
  pen.scale(side / 16, side / 16);
  pen.fillStyle = color;
  pen.strokeStyle = line.color;
  pen.lineWidth = 1.4 * line.width;
  const path = new Path2D(OUTLINES[code % OUTLINES.length]);
  pen.fill(path);
  if (pale || drawn <= 10000) pen.stroke(path);
  return mark;
}

function stamps(ratio) {
  const column = colored();
  if (!column) {
    const only = stamp(data.palette[0], 0, false, ratio);
    return () => only;
  }
  if (column.kind === "groups") {
    const made = column.levels.map((_, code) => stamp(groupColor(code), code, groupColor(code) === PALE, ratio));
    return (i) => made[column.codes[i]];
  }
  const made = VIRIDIS.map((color) => stamp(color, 0, false, ratio));
  const missing = stamp(look().soft, 4, false, ratio);
  const [low, high] = span(column.values);
  return (i) => {
    const share = (column.values[i] - low) / (high - low || 1);
    return Number.isFinite(share) ? made[Math.round(share * (made.length - 1))] : missing;
  };
}

// Far points first; a few hundred steps of depth are as good as a sort.
function backToFront() {
  if (!state.space) return all;
  const { depth, radius } = turned();
  const steps = Array.from({ length: 256 }, () => []);
  for (const i of all) steps[Math.min(255, Math.max(0, Math.floor(((depth[i] / radius + 1) / 2) * 256)))].push(i);
  return steps.flat();
}

function paint() {
  const chart = $("map-chart");
  canvas.hidden = !painted();
  if (!painted() || !chart.layout) return;
  const { x: [x0, x1], y: [y0, y1], width, height } = view(chart);
  const ratio = Math.max(2, devicePixelRatio);
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  Object.assign(canvas.style, { left: `${MARGIN.l}px`, top: `${MARGIN.t}px`, width: `${width}px`, height: `${height}px` });
  const pen = canvas.getContext("2d");
  const left = (value) => ((value - x0) / (x1 - x0)) * canvas.width;
  const top = (value) => ((y1 - value) / (y1 - y0)) * canvas.height;
  paintDensity(pen, left, top);
  const x = across();
  const y = up();
  if (state.graph) paintGraph(pen, left, top, ratio);
  const pick = stamps(ratio);
  for (const i of backToFront()) {
    if (!visible(i)) continue;
    const mark = pick(i);
    const [a, b] = [left(x[i]) - mark.width / 2, top(y[i]) - mark.height / 2];
    if (!(a > -mark.width && a < canvas.width && b > -mark.height && b < canvas.height)) continue;
    pen.globalAlpha = state.picked.size && !state.picked.has(i) ? 0.1 : opacity;
    pen.drawImage(mark, a, b);
  }
}

// All points, also those not drawn, as a shade behind.
function paintDensity(pen, left, top) {
  const shade = state.space ? null : data.density.find(({ x, y }) => (x === state.x && y === state.y) || (x === state.y && y === state.x));
  if (!shade) return;
  const swapped = shade.x !== state.x;
  const levels = bytes(shade.levels);
  const small = document.createElement("canvas");
  const { width, height } = swapped ? { width: GRID.height, height: GRID.width } : GRID;
  Object.assign(small, { width, height });
  const image = small.getContext("2d").createImageData(width, height);
  const ink = look().soft.match(/[0-9a-f]{2}/gi).map((pair) => parseInt(pair, 16));
  levels.forEach((level, t) => {
    const [row, column] = [Math.floor(t / GRID.width), t % GRID.width];
    // Rows run from the top; swapping the axes turns columns into rows from the bottom.
    const to = swapped ? (GRID.width - 1 - column) * width + (GRID.height - 1 - row) : t;
    image.data.set([...ink, level * 0.55], 4 * to);
  });
  small.getContext("2d").putImageData(image, 0, 0);
  const [a, b, c, d] = shade.range;
  const [x0, x1, y0, y1] = swapped ? [c, d, a, b] : [a, b, c, d];
  pen.drawImage(small, left(x0), top(y1), left(x1) - left(x0), top(y0) - top(y1));
}

function paintGraph(pen, left, top, ratio) {
  const x = across();
  const y = up();
  pen.strokeStyle = look().line;
  pen.lineWidth = ratio;
  pen.beginPath();
  for (let e = 0; e < edges.length; e += 2) {
    pen.moveTo(left(x[edges[e]]), top(y[edges[e]]));
    pen.lineTo(left(x[edges[e + 1]]), top(y[edges[e + 1]]));
  }
  pen.stroke();
}

function nearest(chart, event) {
  const { x: [x0, x1], y: [y0, y1], width, height } = view(chart);
  const box = chart.getBoundingClientRect();
  const left = event.clientX - box.left - MARGIN.l;
  const top = event.clientY - box.top - MARGIN.t;
  const x = across();
  const y = up();
  let best = -1;
  let least = 15 * 15;
  for (const i of all) {
    const dx = ((x[i] - x0) / (x1 - x0)) * width - left;
    const dy = ((y1 - y[i]) / (y1 - y0)) * height - top;
    const distance = dx * dx + dy * dy;
    if (distance < least && visible(i)) {
      least = distance;
      best = i;
    }
  }
  return best;
}

function hoverOver(stage, chart) {
  const tip = make("div", undefined, { className: "tip", hidden: true });
  stage.append(tip);
  stage.addEventListener("mousemove", (event) => {
    const i = event.buttons || !painted() ? -1 : nearest(chart, event);
    tip.hidden = i < 0;
    if (i < 0) return;
    const [first, ...rest] = hover(i).split("<br>").map((line) => plain(line.replace(/^<b>|<\/b>$/g, "")));
    tip.replaceChildren(make("b", first), ...rest.flatMap((line) => [document.createElement("br"), line]));
    const box = chart.getBoundingClientRect();
    const right = event.clientX - box.left > box.width / 2;
    tip.style.left = `${event.clientX - box.left + (right ? -14 : 14)}px`;
    tip.style.top = `${event.clientY - box.top}px`;
    tip.style.transform = right ? "translate(-100%, -50%)" : "translate(0, -50%)";
  });
  stage.addEventListener("mouseleave", () => {
    tip.hidden = true;
  });
}
