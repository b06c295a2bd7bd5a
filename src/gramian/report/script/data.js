// The script of a gramian report: draws its charts from the JSON in #data with Plotly.
//
// Text in the data is escaped for Plotly (& < >). Whatever goes into the page itself passes
// through plain() and textContent; nothing here ever sets HTML.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const plain = (text) =>
  text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
const forPlotly = (text) =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function make(name, content, properties) {
  const element = Object.assign(document.createElement(name), properties);
  if (content !== undefined) element.textContent = content;
  return element;
}

function bytes(packed) {
  return Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
}

function floats({ type, data }) {
  const { buffer } = bytes(data);
  return type === "f4" ? new Float32Array(buffer) : new Float64Array(buffer);
}

const coordinates = data.coordinates.map(floats);
const drawn = coordinates[0].length;
const rows = data.rows ? new Int32Array(bytes(data.rows).buffer) : null;
const edges = data.edges === null ? null : new Int32Array(bytes(data.edges).buffer);
const rowNumber = (i) => (rows ? rows[i] : i) + 1;
const label = (i) => (data.labels ? data.labels[i] : `row ${rowNumber(i)}`);
const all = Array.from({ length: drawn }, (_, i) => i);
for (const column of data.columns) {
  if (column.kind === "numbers") column.values = floats(column.values);
  if (column.kind === "groups") column.codes = bytes(column.codes);
}

function short(value) {
  return Number.isFinite(value) ? String(Number(value.toPrecision(4))) : "missing";
}

function cell(column, i) {
  if (column.kind === "groups") return column.levels[column.codes[i]];
  return column.kind === "numbers" ? short(column.values[i]) : column.values[i];
}

function span(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

const state = {
  x: 0,
  y: Math.min(1, coordinates.length - 1),
  z: Math.min(2, coordinates.length - 1),
  color: data.color,
  label: data.label,
  space: false,
  lasso: false,
  equal: true,
  arrows: false,
  graph: edges !== null,
  hidden: new Set(),
  picked: new Set(),
  query: "",
};
const single = coordinates.length === 1;
