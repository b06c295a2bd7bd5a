// Draws the charts of a gramian report from the JSON in #data. Plotly is in the page already.
//
// Text in the data is escaped for Plotly (& < >). Whatever goes into the page itself passes
// through plain() and textContent; nothing here ever sets HTML.
(() => {
  "use strict";

  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("data").textContent);
  const plain = (text) =>
    text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
  const forPlotly = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  // ------------------------------------------------------------------ unpacking

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
  const rowNumber = (i) => (rows ? rows[i] : i) + 1;
  const label = (i) => (data.labels ? data.labels[i] : `row ${rowNumber(i)}`);
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

  // ------------------------------------------------------------------ look

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
  // Plotly keeps an element per point, and its WebGL traces compile code from strings, which the
  // policy of this page forbids. Beyond this many points we paint them ourselves (see "painting").
  const painted = drawn > 10000;

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

  // ------------------------------------------------------------------ map

  const state = {
    x: 0,
    y: Math.min(1, coordinates.length - 1),
    color: data.color,
    equal: true,
    hidden: new Set(),
    query: "",
  };
  const single = coordinates.length === 1;
  const order = Float64Array.from({ length: drawn }, (_, i) => rowNumber(i));
  const across = () => coordinates[state.x];
  const up = () => (single ? order : coordinates[state.y]);
  const upTitle = () => (single ? "row" : data.axes[state.y].title);

  function hover(i) {
    const lines = [`<b>${label(i)}</b>`, `${data.axes[state.x].name}: ${short(across()[i])}`];
    if (!single) lines.push(`${data.axes[state.y].name}: ${short(up()[i])}`);
    for (const column of data.columns.slice(0, 6)) lines.push(`${column.name}: ${cell(column, i)}`);
    return lines.join("<br>");
  }

  function points(indices, marker, name) {
    const x = across();
    const y = up();
    return {
      type: "scatter",
      mode: "markers",
      x: indices.map((i) => x[i]),
      y: indices.map((i) => y[i]),
      hovertext: indices.map(hover),
      hoverinfo: "text",
      name,
      marker: { size, opacity, line: outline(false), ...marker },
    };
  }

  const all = Array.from({ length: drawn }, (_, i) => i);
  const colored = () => data.columns[state.color];
  const shown = (i) => colored()?.kind !== "groups" || !state.hidden.has(colored().codes[i]);

  function mapTraces() {
    const column = colored();
    if (painted) return [frame()];
    if (!column) return [points(all, { color: data.palette[0] }, "")];
    if (column.kind === "groups") {
      const members = column.levels.map(() => []);
      for (const i of all) members[column.codes[i]].push(i);
      return members.map((indices, code) => {
        const color = groupColor(code);
        const symbol = SYMBOLS[code % SYMBOLS.length];
        const marker = { color, symbol, size: size * SCALES[code % SCALES.length], line: outline(color === PALE) };
        return { ...points(indices, marker, column.levels[code]), visible: !state.hidden.has(code) };
      });
    }
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

  function matches() {
    const query = state.query.trim().toLowerCase();
    if (!query) return [];
    if (!data.labels) {
      const wanted = Number(query.replace(/^row\s*/, ""));
      return all.filter((i) => rowNumber(i) === wanted);
    }
    return all.filter((i) => plain(data.labels[i]).toLowerCase().includes(query));
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
      x: x[i],
      y: y[i],
      text: label(i),
      showarrow: true,
      arrowhead: 0,
      arrowcolor: ink,
      ax: 0,
      ay: -32,
      font: { color: ink, size: 13 },
      bgcolor: paper,
      bordercolor: line,
      borderpad: 3,
    }));
    return { ring, annotations };
  }

  function mapFigure() {
    const { ring, annotations } = found(matches());
    const free = single || !state.equal;
    const figure = layout({
      xaxis: axis(data.axes[state.x].title),
      yaxis: axis(upTitle(), free ? {} : { scaleanchor: "x", scaleratio: 1 }),
      annotations,
      dragmode: touch ? false : "zoom",
      uirevision: `${state.x} ${state.y} ${free}`,
    });
    // A painted map paints its rings as well: Plotly's would lie under the image.
    return { data: painted ? mapTraces() : [...mapTraces(), ring], layout: figure };
  }

  async function drawMap() {
    const figure = mapFigure();
    const chart = await Plotly.react("map-chart", figure.data, figure.layout, CONFIG);
    if (painted) await paint(chart);
  }

  function drawLegend() {
    const column = colored();
    const legend = $("map-legend");
    legend.replaceChildren();
    if (column?.kind === "groups") column.levels.forEach((level, code) => legend.append(groupButton(level, code)));
    if (column?.kind === "numbers") legend.append(...ramp(column));
  }

  function groupButton(level, code) {
    const button = document.createElement("button");
    const press = () => button.setAttribute("aria-pressed", String(!state.hidden.has(code)));
    button.type = "button";
    button.title = "Show or hide this group";
    button.append(glyph(code), plain(level));
    button.addEventListener("click", () => {
      if (!state.hidden.delete(code)) state.hidden.add(code);
      press();
      drawMap();
    });
    press();
    return button;
  }

  function span(values) {
    const finite = values.filter(Number.isFinite);
    return finite.length ? [finite.reduce((a, b) => Math.min(a, b)), finite.reduce((a, b) => Math.max(a, b))] : [0, 1];
  }

  function ramp(column) {
    const [low, high] = span(column.values);
    const bar = document.createElement("span");
    bar.className = "ramp";
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

  const sentence = $("map-sentence").textContent;

  function describeMap() {
    const colors = colored() ? `, colored by ${plain(colored().name)}` : "";
    const now =
      `Map of ${data.n.toLocaleString("en")} observations: ` +
      `${plain(data.axes[state.x].title)} across, ${plain(upTitle())} up${colors}.`;
    const first = state.x === 0 && (single || state.y === 1) && state.color === data.color;
    $("map-sentence").textContent = first ? sentence : now;
    $("map-chart").setAttribute("aria-label", first ? sentence : now);
  }

  function report(indices) {
    const query = state.query.trim();
    const names = indices.slice(0, 5).map((i) => plain(label(i)));
    const more = indices.length > 5 ? ` and ${indices.length - 5} more` : "";
    $("map-found").textContent = !query
      ? ""
      : indices.length
        ? `Found ${indices.length}: ${names.join(", ")}${more}.`
        : `No point matches “${query}”.`;
  }

  function zoom(factor) {
    const { xaxis, yaxis } = $("map-chart").layout;
    const scaled = ([low, high]) => {
      const center = (low + high) / 2;
      const half = ((high - low) / 2) * factor;
      return [center - half, center + half];
    };
    Plotly.relayout("map-chart", { "xaxis.range": scaled(xaxis.range), "yaxis.range": scaled(yaxis.range) });
  }

  // ------------------------------------------------------------------ painting
  //
  // Many points are painted on a canvas, which Plotly shows as an image in data coordinates: its
  // axes, zoom and saved pictures work as for its own traces. Hover is a search for the nearest.

  function frame() {
    const [x0, x1] = span(across());
    const [y0, y1] = span(up());
    const marker = { opacity: 0, size };
    return { type: "scatter", mode: "markers", x: [x0, x1], y: [y0, y1], hoverinfo: "skip", marker, showlegend: false };
  }

  function view(chart) {
    const { xaxis, yaxis } = chart.layout;
    return {
      x: xaxis.range,
      y: yaxis.range,
      width: Math.max(1, chart.clientWidth - MARGIN.l - MARGIN.r),
      height: Math.max(1, chart.clientHeight - MARGIN.t - MARGIN.b),
    };
  }

  // One small picture of each marker, stamped wherever it is needed.
  function stamp(color, code, pale, ratio) {
    const canvas = document.createElement("canvas");
    const side = size * 1.5 * ratio;
    canvas.width = canvas.height = Math.ceil(side);
    const pen = canvas.getContext("2d");
    const line = outline(pale);
    pen.scale(side / 16, side / 16);
    pen.fillStyle = color;
    pen.strokeStyle = line.color;
    pen.lineWidth = line.width;
    const path = new Path2D(OUTLINES[code % OUTLINES.length]);
    pen.fill(path);
    if (pale) pen.stroke(path);
    return canvas;
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

  async function paint(chart) {
    const { x: [x0, x1], y: [y0, y1], width, height } = view(chart);
    const ratio = Math.max(2, devicePixelRatio);
    const canvas = document.createElement("canvas");
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.globalAlpha = opacity;
    const pick = stamps(ratio);
    const x = across();
    const y = up();
    for (const i of all) {
      if (!shown(i)) continue;
      const mark = pick(i);
      const left = ((x[i] - x0) / (x1 - x0)) * canvas.width - mark.width / 2;
      const top = ((y1 - y[i]) / (y1 - y0)) * canvas.height - mark.height / 2;
      if (left > -mark.width && left < canvas.width && top > -mark.height && top < canvas.height)
        pen.drawImage(mark, left, top);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = look().ink;
    pen.lineWidth = 2.5 * ratio;
    for (const i of matches()) {
      pen.beginPath();
      const left = ((x[i] - x0) / (x1 - x0)) * canvas.width;
      const top = ((y1 - y[i]) / (y1 - y0)) * canvas.height;
      pen.arc(left, top, ((size + 9) / 2) * ratio, 0, 7);
      pen.stroke();
    }
    const place = { x: x0, y: y1, sizex: x1 - x0, sizey: y1 - y0, xref: "x", yref: "y", sizing: "stretch" };
    await Plotly.relayout(chart, { images: [{ source: canvas.toDataURL(), layer: "above", ...place }] });
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
      if (distance < least && shown(i)) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  function hoverOver(chart) {
    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;
    chart.after(tip);
    chart.addEventListener("mousemove", (event) => {
      const i = event.buttons ? -1 : nearest(chart, event);
      tip.hidden = i < 0;
      if (i < 0) return;
      const [first, ...rest] = hover(i).split("<br>").map((line) => plain(line.replace(/^<b>|<\/b>$/g, "")));
      const name = document.createElement("b");
      name.textContent = first;
      tip.replaceChildren(name, ...rest.flatMap((line) => [document.createElement("br"), line]));
      const box = chart.getBoundingClientRect();
      const right = event.clientX - box.left > box.width / 2;
      tip.style.left = `${event.clientX - box.left + (right ? -14 : 14)}px`;
      tip.style.top = `${event.clientY - box.top}px`;
      tip.style.transform = right ? "translate(-100%, -50%)" : "translate(0, -50%)";
    });
    chart.addEventListener("mouseleave", () => {
      tip.hidden = true;
    });
    chart.on("plotly_relayout", (changed) => {
      if (!("images" in changed)) paint(chart);
    });
  }

  // ------------------------------------------------------------------ saving

  function save(blob, ending) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${data.file}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function csv() {
    const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const head = ["row", "label", ...data.axes.map((a) => a.name), ...data.columns.map((c) => c.name)];
    const lines = [head.map((text) => quote(plain(text))).join(",")];
    for (const i of all) {
      const values = coordinates.map((axis) => String(Number(axis[i].toPrecision(7))));
      const cells = data.columns.map((column) =>
        column.kind === "numbers"
          ? Number.isFinite(column.values[i]) ? String(Number(column.values[i].toPrecision(7))) : ""
          : quote(plain(cell(column, i))),
      );
      lines.push([rowNumber(i), quote(plain(label(i))), ...values, ...cells].join(","));
    }
    save(new Blob([lines.join("\r\n"), "\r\n"], { type: "text/csv" }), "csv");
  }

  async function picture(format) {
    const figure = mapFigure();
    const column = colored();
    const { xaxis, yaxis, images } = $("map-chart").layout;
    Object.assign(figure.layout, { paper_bgcolor: look().paper, images, showlegend: column?.kind === "groups" });
    figure.layout.xaxis.range = [...xaxis.range];
    figure.layout.yaxis.range = [...yaxis.range];
    figure.data.at(-1).showlegend = false;
    // A painted map has no traces of its own to make a legend or a color bar from.
    if (painted && column?.kind === "groups")
      column.levels.forEach((name, code) =>
        figure.data.push({
          type: "scatter", mode: "markers", x: [null], y: [null], name,
          marker: { color: groupColor(code), symbol: SYMBOLS[code % SYMBOLS.length], size: 9 },
        }),
      );
    if (column?.kind === "numbers") {
      const [cmin, cmax] = span(column.values);
      const colorscale = VIRIDIS.map((color, i) => [i / (VIRIDIS.length - 1), color]);
      const colorbar = { title: { text: column.name, side: "right" }, thickness: 14, outlinewidth: 0 };
      figure.data.push({
        type: "scatter", mode: "markers", x: [null], y: [null],
        marker: { color: [cmin], cmin, cmax, colorscale, colorbar, showscale: true },
      });
    }
    const url = await Plotly.toImage(figure, { format, width: 1000, height: 700, scale: format === "png" ? 2 : 1 });
    const [, encoding, body] = url.match(/^data:[^,]*?(;base64)?,([\s\S]*)$/);
    const content = encoding ? bytes(body) : decodeURIComponent(body);
    save(new Blob([content], { type: format === "png" ? "image/png" : "image/svg+xml" }), format);
  }

  // ------------------------------------------------------------------ spectrum

  function drawScree() {
    const scree = data.scree;
    if (!scree) return null;
    const { ink, soft } = look();
    const known = scree.shares.every((share) => share !== null);
    const percent = (share) => `${(100 * share).toFixed(1)}%`;
    const few = scree.names.length <= 12 && innerWidth > 640;
    const bars = {
      type: "bar",
      x: scree.names,
      y: known ? scree.shares : scree.values,
      text: known && few ? scree.shares.map(percent) : undefined,
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
      name: "share",
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
      showlegend: known,
      legend: { orientation: "h", x: 1, xanchor: "right", y: 1.02, yanchor: "bottom", font: { color: ink } },
      margin: { l: 56, r: 12, t: 36, b: 40 },
      bargap: 0.35,
      dragmode: false,
    });
    return Plotly.react("scree-chart", known ? [bars, line] : [bars], figure, CONFIG);
  }

  // ------------------------------------------------------------------ correlation circle

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
      const text = plain(p.name).length > 20 ? forPlotly(`${plain(p.name).slice(0, 19)}…`) : p.name;
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

  // ------------------------------------------------------------------ tables

  const value = (text) => {
    const number = parseFloat(text.replaceAll(",", ""));
    return Number.isNaN(number) ? text : number;
  };

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function makeSortable(table) {
    table.querySelectorAll("thead th").forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = heading.textContent;
      heading.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const key = (row) => value(row.cells[column].textContent);
        const sorted = [...body.rows].sort((a, b) => compare(key(a), key(b)));
        body.append(...(down ? sorted.reverse() : sorted));
      });
    });
  }

  // ------------------------------------------------------------------ start

  function drawAll() {
    return Promise.all([drawMap(), drawScree(), drawCircle()]);
  }

  function on(id, event, action) {
    $(id)?.addEventListener(event, action);
  }

  function changeAxes() {
    state.x = Number($("map-x").value);
    if ($("map-y")) state.y = Number($("map-y").value);
    describeMap();
    drawMap();
    drawCircle();
  }

  on("map-x", "change", changeAxes);
  on("map-y", "change", changeAxes);
  on("map-color", "change", () => {
    state.color = Number($("map-color").value);
    state.hidden.clear();
    describeMap();
    drawLegend();
    drawMap();
  });
  on("map-equal", "change", () => {
    state.equal = $("map-equal").checked;
    drawMap();
  });
  on("map-search", "input", () => {
    state.query = $("map-search").value;
    report(matches());
    drawMap();
  });
  on("zoom-in", "click", () => zoom(0.6));
  on("zoom-out", "click", () => zoom(1 / 0.6));
  on("zoom-reset", "click", () => Plotly.relayout("map-chart", { "xaxis.autorange": true, "yaxis.autorange": true }));
  on("save-csv", "click", csv);
  on("save-png", "click", () => picture("png"));
  on("save-svg", "click", () => picture("svg"));
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

  for (const id of ["map-chart", "scree-chart", "circle-chart"]) $(id)?.replaceChildren();
  drawLegend();
  drawAll().then(() => {
    if (painted) hoverOver($("map-chart"));
    document.documentElement.setAttribute("data-drawn", "");
  });
})();
