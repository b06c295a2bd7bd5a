
// Three axes, turned in space and seen from far away, are a flat map of turned coordinates. So
// everything the flat map can do (hover, search, select, save) works in space as well.

const turn = { around: -0.6, tilt: 0.4 };
let turnedFor = "";
let turnedNow = null;

function turned() {
  const key = [state.x, state.y, state.z, state.equal, turn.around, turn.tilt].join(" ");
  if (key === turnedFor) return turnedNow;
  const used = [state.x, state.y, state.z].map((a) => coordinates[a]);
  const spans = used.map(span);
  const middles = spans.map(([low, high]) => (low + high) / 2);
  const halves = spans.map(([low, high]) => (high - low) / 2 || 1);
  const units = state.equal ? halves.map(() => Math.max(...halves)) : halves;
  const [cosA, sinA] = [Math.cos(turn.around), Math.sin(turn.around)];
  const [cosT, sinT] = [Math.cos(turn.tilt), Math.sin(turn.tilt)];
  const project = (a, b, c) => {
    const behind = cosA * c - sinA * a;
    return [cosA * a + sinA * c, cosT * b - sinT * behind, sinT * b + cosT * behind];
  };
  const [x, y, depth] = [0, 0, 0].map(() => new Float64Array(drawn));
  let radius = 0;
  for (let i = 0; i < drawn; i++) {
    const at = used.map((values, j) => (values[i] - middles[j]) / units[j]);
    radius = Math.max(radius, Math.hypot(...at));
    [x[i], y[i], depth[i]] = project(...at);
  }
  const place = (at) => project(...at.map((value, j) => (value - middles[j]) / units[j]));
  const tips = middles.map((_, j) => place(middles.map((m, l) => (l === j ? m + halves[j] : m))));
  turnedFor = key;
  turnedNow = { x, y, depth, radius: 1.06 * (radius || 1), place, tips };
  return turnedNow;
}

// The three axes as arrows from the middle of the data.
function spaceAxes() {
  const { ink, soft } = look();
  return turned().tips.map(([x, y], j) => ({
    x, y, ax: 0, ay: 0, xref: "x", yref: "y", axref: "x", ayref: "y",
    text: "", showarrow: true, arrowhead: 2, arrowwidth: 1.4, arrowcolor: soft,
    title: data.axes[[state.x, state.y, state.z][j]].title, ink,
  })).flatMap(({ title, ink: color, ...arrow }) => [
    arrow,
    {
      x: arrow.x * 1.06, y: arrow.y * 1.06, text: title, showarrow: false,
      font: { color, size: 13 }, bgcolor: `${look().paper}99`,
      xanchor: arrow.x < 0 ? "right" : "left", yanchor: arrow.y < 0 ? "top" : "bottom",
    },
  ]);
}

let waiting = false;

function turnBy(around, tilt) {
  turn.around += around;
  turn.tilt = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, turn.tilt + tilt));
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    drawMap();
  });
}

function turnByDragging(stage) {
  let last = null;
  stage.addEventListener("pointerdown", (event) => {
    if (state.space && !state.lasso && event.isPrimary) last = event;
  });
  addEventListener("pointermove", (event) => {
    if (!last) return;
    turnBy((event.clientX - last.clientX) / 180, (event.clientY - last.clientY) / 180);
    last = event;
  });
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (last = null));
}
