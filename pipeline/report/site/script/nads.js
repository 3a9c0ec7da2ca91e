/* NADs of every network, one at a time. */
function nads(offered) {
  const networks = Object.values(offered), select = $("nads-network");
  options(select, networks);
  function show(index) {
    const network = networks[select.value], place = network.indices.indexOf(index), rows = [["index", `${index} of 0 to ${network.last}`]];
    if (network.eigenvalues) {
      const scientific = (value) => { const [a, b] = value.toExponential(2).split("e"); return `${a}·10${[...String(+b)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`; };
      const [first, last] = network.nearby[place];
      rows.push(["strength λ", `${scientific(network.eigenvalues[place])} ± ${scientific(network.standard_errors[place])} (standard error, ${network.networks} untrained networks)`]);
      rows.push(["cannot be told from", last > first ? `indices ${first} to ${last}: only what they span is known` : "no other: this direction stands alone"]);
    } else rows.push(["taken from", String(network.file)]);
    terms($("nads-read"), rows);
    spectrum(network, place);
    drawNad($("nads-pixels"), network, index, `NAD ${index} in pixels`);
  }
  const slider = slide($("nads-slider"), show);
  const pick = () => slider.offer(networks[select.value].indices);
  select.addEventListener("change", pick);
  pick();
}
/* √λ with two standard errors over the index, both logarithmic, and the span of a direction. */
function spectrum(network, chosen) {
  const plot = axis($("nads-spectrum"), network.last, 160, 12);
  $("nads-legend").hidden = !network.eigenvalues;
  if (!network.eigenvalues || !plot) return;
  const { eigenvalues, standard_errors: errors, indices } = network, { left, right, top, bottom, x, add } = plot;
  const log = (value) => Math.log(Math.max(value, eigenvalues[0] * 1e-9)), high = log(eigenvalues[0] + 2 * errors[0]);
  const low = Math.min(...eigenvalues.map(log)), y = (value) => Math.min(bottom, bottom - ((bottom - top) * (log(value) - low)) / (high - low || 1));
  const points = (values) => values.map((value, place) => [x(indices[place]), y(value)]);
  const [from, to] = network.nearby[chosen];
  const upper = points(eigenvalues.map((value, place) => value + 2 * errors[place])), lower = points(eigenvalues.map((value, place) => value - 2 * errors[place]));
  add("rect", { x: x(from) - 1, width: x(to) - x(from) + 2, y: top, height: bottom - top, fill: "var(--mark)", opacity: 0.25 });
  add("polygon", { points: [...upper, ...lower.reverse()].join(" "), fill: "var(--ours)", opacity: 0.35 });
  plot.line(points(eigenvalues), { stroke: "currentColor", "stroke-width": 1.5 });
  plot.mark(indices[chosen]);
  add("line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "currentColor", opacity: 0.4 });
}
