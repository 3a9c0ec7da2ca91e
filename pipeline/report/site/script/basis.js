const page = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const [ZERO, LEVELS] = page.tile; // bytes that stand for 0, and for the distance from there to 1
const minus = (text) => String(text).replace(/-/g, "−");
const colour = (t) => page.colours[Math.max(0, Math.min(page.colours.length - 1, Math.round(t * (page.colours.length - 1))))];
/* The style of a cell with an accuracy: its colour, from chance on, and black or white letters, whose contrast is then 4.5 at least. */
function shade(accuracy) {
  const rgb = colour(2 * accuracy - 1), [r, g, b] = rgb.map((byte) => (byte <= 10 ? byte / 3295 : ((byte / 255 + 0.055) / 1.055) ** 2.4));
  return `background-color:rgb(${rgb.join(",")});color:${0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff"}`;
}
const percent = (value, digits = 1) => (100 * value).toFixed(digits);
const spread = (mean, deviation) => percent(mean) + (deviation == null ? "" : ` ± ${percent(deviation)}`);

function element(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
/* A picker's options, by their names; those with a group of that name come under its heading. */
function options(select, offered) {
  const groups = {};
  select.replaceChildren();
  offered.forEach(({ name, group }, place) => {
    const option = element("option", { value: place }, name);
    if (!group) return select.append(option);
    if (!groups[group]) select.append((groups[group] = element("optgroup", { label: group })));
    groups[group].append(option);
  });
}
function terms(list, rows) {
  list.replaceChildren(...rows.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]));
}
/* An accuracy [mean, deviation, seeds, fitted] in words, or a published one [mean]. */
function said([mean, deviation, seeds, fitted]) {
  if (!seeds) return `${percent(mean)} %`;
  const done = fitted === seeds ? "" : `; fitted: ${fitted} of ${seeds}`;
  return `${spread(mean, deviation)} % (${seeds} seed${seeds > 1 ? "s" : ""}${done})`;
}

/* How the cells of a map are told apart that were not fitted with every seed: hatched, unless that is all of them. */
function unfitted(values, legend) {
  const some = values.filter(([, , seeds, fitted]) => fitted < seeds), hatched = some.length > 0 && some.length < values.length;
  legend.textContent = hatched ? "hatched: not fitted with every seed" : some.length ? "no network of this map was fitted with every seed" : "";
  return ([, , seeds, fitted]) => (hatched && fitted < seeds ? { look: "unfitted" } : {});
}

/* values (channels, height, width) in [-1, 1] as grey, or three channels as colours; other numbers of them side by side. */
function draw(canvas, values, [channels, height, width]) {
  const wide = channels === 3 ? 1 : channels;
  canvas.width = width * wide;
  canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(canvas.width, height);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < canvas.width; column++)
      for (let c = 0; c < 3; c++) {
        const channel = channels === 3 ? c : Math.floor(column / width);
        const value = values[(channel * height + row) * width + (column % width)];
        image.data[4 * (row * canvas.width + column) + c] = 127.5 * (1 + Math.max(-1, Math.min(1, value)));
        image.data[4 * (row * canvas.width + column) + 3] = 255;
      }
  context.putImageData(image, 0, 0);
}
/* The bytes of a network's sprite; the promise is kept, so that each is decoded once. */
function sheet(network) {
  network.sheet ??= (async () => {
    const image = new Image();
    image.src = network.sprite;
    await new Promise((loaded) => (image.onload = loaded));
    const canvas = element("canvas", { width: image.width, height: image.height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  })();
  return network.sheet;
}
/* One direction from its tile, in whose first half along either axis stands the even part, in the second the odd part. */
function direction(network, pixels, place) {
  const [channels, height, width] = network.shape, values = new Float32Array(channels * height * width);
  const top = Math.floor(place / network.columns) * height * channels, left = (place % network.columns) * width;
  for (let row = 0; row < channels * height; row++)
    for (let column = 0; column < width; column++)
      values[row * width + column] = (pixels.data[4 * ((top + row) * pixels.width + left + column)] - ZERO) / LEVELS;
  const unfold = (start, stride, count) => {
    for (let n = 0; n < count >> 1; n++) {
      const p = start + n * stride, q = start + (count - 1 - n) * stride;
      [values[p], values[q]] = [values[p] + values[q], values[p] - values[q]];
    }
  };
  for (let row = 0; row < channels * height; row++) unfold(row * width, 1, width);
  for (let c = 0; c < channels; c++) for (let column = 0; column < width; column++) unfold(c * height * width + column, width, height);
  return values;
}

/* A grid of cells to point at: mouse, touch, arrow keys; one of them is chosen, and `chosen(row, column)` hears of it. */
function grid(host, rows, columns, describe, chosen) {
  const table = element("div", { class: "grid", role: "grid" }), cells = new Map();
  table.style.gridTemplateColumns = `2.6em repeat(${columns.length}, minmax(0, 1fr))`;
  const choose = (r, c, focus) => {
    for (const cell of cells.values()) (cell.tabIndex = -1), cell.setAttribute("aria-selected", "false");
    const cell = cells.get(`${r},${c}`);
    cell.tabIndex = 0;
    cell.setAttribute("aria-selected", "true");
    if (focus) cell.focus();
    chosen(rows[r], columns[c]);
  };
  const head = (role, values, place, most) => element("div", { class: place % Math.ceil(values.length / most) ? "head unseen" : "head", role }, minus(values[place]));
  rows.forEach((row, r) => {
    const line = element("div", { role: "row" }, head("rowheader", rows, r, 12));
    columns.forEach((column, c) => {
      const { name, text, style, look } = describe(row, column);
      const cell = element("div", { class: look ? `cell ${look}` : "cell", role: "gridcell", "aria-label": name, style: style || "" }, text || "");
      cell.addEventListener("pointerover", () => choose(r, c));
      cell.addEventListener("click", () => choose(r, c, true));
      cell.addEventListener("keydown", (event) => {
        const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
        if (!step) return;
        event.preventDefault();
        const to = [r + step[0], c + step[1]];
        if (cells.has(to.join())) choose(...to, true);
      });
      cells.set(`${r},${c}`, cell);
      line.append(cell);
    });
    table.append(line);
  });
  const last = element("div", { role: "row" }, element("div", { class: "head unseen", role: "columnheader" }, "row"), ...columns.map((_, c) => head("columnheader", columns, c, 8)));
  table.append(last);
  host.replaceChildren(table);
  return choose;
}

/* One NAD of a network, once the picture of them all is decoded. */
async function nad(network, index) {
  return direction(network, await sheet(network), network.indices.indexOf(index));
}
/* Draw a NAD into a canvas, unless another is asked for before its picture is decoded. */
async function drawNad(canvas, network, index, text) {
  const asked = (canvas.asked = {}), values = await nad(network, index);
  if (canvas.asked !== asked) return;
  draw(canvas, values, network.shape);
  canvas.setAttribute("aria-label", text);
}
/* The NAD indices of a curve: those where it has cells of ours, or published values. */
function indices({ cells, published }) {
  const every = [cells, published?.values ?? {}].flatMap((values) => Object.keys(values).map(Number));
  return [...new Set(every)].sort((a, b) => a - b);
}
/* A slider along the logarithmic axis of a plot, whose value is log(index + 1) and which stops at some NAD indices; arrow keys go from one to the next.
   `offer(indices)` sets these, `go(value)` chooses the nearest, and `show(index)` hears of it. */
function slide(slider, show) {
  let all = [0];
  function go(value) {
    const index = all.reduce((best, each) => (Math.abs(Math.log1p(each) - value) < Math.abs(Math.log1p(best) - value) ? each : best));
    slider.value = Math.log1p(index);
    slider.dataset.index = index;
    slider.setAttribute("aria-valuetext", `NAD ${index}`);
    $(`${slider.id}-is`).textContent = `NAD ${index}`;
    show(index);
  }
  slider.addEventListener("input", () => go(slider.value));
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    slider.value = Math.log1p(all[all.indexOf(+slider.dataset.index) + step] ?? +slider.dataset.index);
    slider.dispatchEvent(new Event("input"));
  });
  addEventListener("resize", () => go(slider.value));
  const offer = (indices) => {
    all = indices;
    slider.max = Math.log1p(all.at(-1));
    go(slider.value);
  };
  return { offer, go };
}
/* An empty plot as wide as its place, and how to draw into it; none where it is not seen yet. */
function empty(svg, height, left) {
  const { width } = svg.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  if (width < 100) return null;
  const add = (name, attributes, ...text) => svg.append(element(`svg:${name}`, attributes, ...text));
  const label = (at, text, anchor = "middle") => add("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
  const line = (points, look) => add("polyline", { points: points.map((point) => point.map((p) => p.toFixed(1)).join(",")).join(" "), fill: "none", ...look });
  return { left, right: width - 12, top: 8, bottom: height - 18, add, label, line };
}
/* An empty plot over NAD indices from 0 to `last`, logarithmic. */
function axis(svg, last, height, left = 50) {
  const plot = empty(svg, height, left), end = Math.log1p(last) || 1;
  if (!plot) return null;
  const { right, top, bottom, add, label } = plot, x = (index) => left + ((right - left) * Math.log1p(index)) / end;
  const mark = (index) => add("line", { x1: x(index), x2: x(index), y1: top, y2: bottom, stroke: "var(--mark)", "stroke-width": 2 });
  for (const index of [0, 10, 100, 1000].filter((each) => each <= last)) label([x(index), bottom + 16], String(index), x(index) > right - 20 ? "end" : "middle");
  return { ...plot, end, x, mark };
}
/* Accuracies over the NAD index, to point at: ours with error bars, hollow where not fitted with every seed; thin: on training samples; and a published line.
   level: an accuracy that no index has, dashed; chosen: the index that is marked; response: a grey line from 0 to 1; `pointed(value)` hears of other places on the axis. */
function curve(svg, shown, { last, guess, level, chosen, training, response, pointed }) {
  const plot = axis(svg, last, 200);
  if (!plot) return;
  const { left, right, top, bottom, x, add, label, line } = plot, low = guess - 0.04;
  const y = (accuracy) => bottom - ((bottom - top) * (Math.max(accuracy, low) - low)) / (1 - low);
  const across = (accuracy, look) => add("line", { x1: left, x2: right, y1: y(accuracy), y2: y(accuracy), ...look });
  for (const value of [guess, (1 + guess) / 2, 1]) {
    across(value, { stroke: "currentColor", opacity: value === guess ? 0.5 : 0.15 });
    label([left - 8, y(value) + 4], `${percent(value, 0)} %`, "end");
  }
  plot.mark(chosen);
  if (level) across(level[0], { stroke: "var(--ours)", "stroke-width": 1.5, "stroke-dasharray": "7 4" });
  if (response) line(response.map((part, index) => [x(index), y(guess + (1 - guess) * part)]), { stroke: "var(--untrained)", "stroke-width": 2 });
  const theirs = Object.entries(shown.published?.values ?? {});
  line(theirs.map(([index, value]) => [x(+index), y(value / 100)]), { stroke: "var(--theirs)", "stroke-width": 2, opacity: 0.8 });
  const ours = Object.entries(shown.cells);
  if (training) line(ours.map(([index, cell]) => [x(+index), y(cell[4])]), { stroke: "var(--ours)", "stroke-width": 1, opacity: 0.8 });
  line(ours.map(([index, [mean]]) => [x(+index), y(mean)]), { stroke: "var(--ours)", "stroke-width": 2.5 });
  for (const [index, [mean, deviation, seeds, fitted]] of ours) {
    const at = { cx: x(+index), cy: y(mean), r: +index === chosen ? 6 : 3.5 };
    if (deviation) add("line", { x1: at.cx, x2: at.cx, y1: y(mean - deviation), y2: y(mean + deviation), stroke: "var(--ours)", "stroke-width": 1.5 });
    add("circle", { ...at, fill: fitted < seeds ? "var(--panel)" : "var(--ours)", stroke: "var(--ours)", "stroke-width": 1.5 });
  }
  svg.onpointermove = svg.onpointerdown = (event) => pointed((plot.end * (event.clientX - svg.getBoundingClientRect().left - left)) / (right - left));
}
