
// How things look: symbols, colors, axes.

const SYMBOLS = ["circle", "square", "triangle-up", "diamond", "cross", "star", "triangle-down"];
// Symbols of equal "size" differ in area; these make them look equal.
const SCALES = [1, 0.95, 1.25, 1.15, 1.2, 1.35, 1.25];
const PALE = "#F0E442";
// Outlines of the same symbols for the legend, about a center of (8, 8).
const OUTLINES = [
  "M8 2.5a5.5 5.5 0 1 0 .01 0z",
  "M3.2 3.2h9.6v9.6h-9.6z",
  "M8 2.2l6 10.6h-12z",
  "M8 1.6l6.4 6.4l-6.4 6.4l-6.4-6.4z",
  "M6.1 2h3.8v4.1h4.1v3.8h-4.1v4.1h-3.8v-4.1h-4.1v-3.8h4.1z",
  "M8 1.2l1.8 4.6 5 .3-3.9 3.1 1.3 4.8-4.2-2.7-4.2 2.7 1.3-4.8-3.9-3.1 5-.3z",
  "M8 13.8l6-10.6h-12z",
];
const VIRIDIS = [
  "#440154", "#482475", "#414487", "#355f8d", "#2a788e", "#21918c",
  "#22a884", "#44bf70", "#7ad151", "#bddf26", "#fde725",
];
const size = drawn > 20000 ? 4 : drawn > 4000 ? 5 : drawn > 800 ? 6.5 : 9;
const opacity = drawn > 800 ? 0.7 : 0.88;

let printing = false;
const PAPER = { width: 680, height: 415 }; // 18 cm x 11 cm, as in the print style sheet

function look() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  if (printing) return { ink: "#000", soft: "#404a54", grid: "#dde2e7", line: "#b5bec7", paper: "#ffffff" };
  return Object.fromEntries(
    ["ink", "soft", "grid", "line", "paper"].map((name) => [name, color(name)]),
  );
}

// Eight colors and seven symbols: 56 groups before one repeats. Black is the page's own ink.
function groupColor(code) {
  const i = code % data.palette.length;
  return i === data.palette.length - 1 ? look().ink : data.palette[i];
}

// Outlines part overlapping points; pale fills need a dark one to be seen at all.
function outline(pale) {
  const { paper, soft } = look();
  return { width: pale ? 0.8 : 0.6, color: pale ? soft : paper };
}

const MARGIN = { l: 64, r: 14, t: 12, b: 52 };

function axis(title, extra) {
  const { ink, soft, grid, line } = look();
  return {
    title: { text: title, font: { color: ink, size: 14 }, standoff: 8 },
    tickfont: { color: soft, size: 12 },
    gridcolor: grid,
    zerolinecolor: line,
    zerolinewidth: 1,
    ...extra,
  };
}

function layout(extra) {
  const { ink, line, paper } = look();
  return {
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, -apple-system, Segoe UI, Roboto, sans-serif", color: ink },
    margin: MARGIN,
    showlegend: false,
    hovermode: "closest",
    hoverlabel: { bgcolor: paper, bordercolor: line, font: { color: ink, size: 13 }, align: "left" },
    ...(printing ? PAPER : { autosize: true }),
    ...extra,
  };
}

const CONFIG = { displayModeBar: false, responsive: true, showTips: false };
// On a touch screen a drag must scroll the page; the buttons zoom.
const touch = matchMedia("(pointer: coarse)").matches;
