
// Saving: coordinates as CSV, charts as pictures.

function save(blob, name) {
  const link = make("a", undefined, { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function csv(indices, suffix) {
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const digits = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(7))) : "");
  const head = ["row", "label", ...data.axes.map((a) => a.name), ...data.columns.map((c) => c.name)];
  const lines = [head.map((text) => quote(plain(text))).join(",")];
  for (const i of indices) {
    const cells = data.columns.map((column) =>
      column.kind === "numbers" ? digits(column.values[i]) : quote(plain(cell(column, i))),
    );
    const values = coordinates.map((axis) => digits(axis[i]));
    lines.push([rowNumber(i), quote(plain(label(i))), ...values, ...cells].join(","));
  }
  save(new Blob([lines.join("\r\n"), "\r\n"], { type: "text/csv" }), `${data.file}${suffix}.csv`);
}

async function saveFigure(figure, format, name, height = 700) {
  const url = await Plotly.toImage(figure, { format, width: 1000, height, scale: format === "png" ? 2 : 1 });
  const [, encoding, body] = url.match(/^data:[^,]*?(;base64)?,([\s\S]*)$/);
  const content = encoding ? bytes(body) : decodeURIComponent(body);
  save(new Blob([content], { type: format === "png" ? "image/png" : "image/svg+xml" }), `${name}.${format}`);
}

function saveChart(id, format) {
  const { data: traces, layout: shown } = $(id);
  const figure = { data: traces, layout: { ...shown, paper_bgcolor: look().paper, autosize: false } };
  return saveFigure(figure, format, `${data.file}-${id.replace("-chart", "")}`, id === "circle-chart" ? 1000 : 600);
}

async function saveMap(format) {
  const figure = mapFigure();
  const column = colored();
  const { xaxis, yaxis } = $("map-chart").layout;
  const [x0, x1] = xaxis.range;
  const [y0, y1] = yaxis.range;
  Object.assign(figure.layout, { paper_bgcolor: look().paper, showlegend: column?.kind === "groups" });
  figure.layout.xaxis.range = [x0, x1];
  figure.layout.yaxis.range = [y0, y1];
  for (const trace of figure.data.slice(-2)) trace.showlegend = false;
  if (painted()) {
    const place = { x: x0, y: y1, sizex: x1 - x0, sizey: y1 - y0, xref: "x", yref: "y", sizing: "stretch" };
    figure.layout.images = [{ source: canvas.toDataURL(), layer: "below", ...place }];
    // A painted map has no traces of its own to make a legend from.
    if (column?.kind === "groups")
      column.levels.forEach((name, code) =>
        figure.data.push({
          type: "scatter", mode: "markers", x: [null], y: [null], name,
          marker: { color: groupColor(code), symbol: SYMBOLS[code % SYMBOLS.length], size: 9 },
        }),
      );
  }
  if (column?.kind === "numbers") {
    const [cmin, cmax] = span(column.values);
    const colorscale = VIRIDIS.map((color, i) => [i / (VIRIDIS.length - 1), color]);
    const colorbar = { title: { text: column.name, side: "right" }, thickness: 14, outlinewidth: 0 };
    figure.data.push({
      type: "scatter", mode: "markers", x: [null], y: [null], showlegend: false,
      marker: { color: [cmin], cmin, cmax, colorscale, colorbar, showscale: true },
    });
  }
  return saveFigure(figure, format, data.file);
}
