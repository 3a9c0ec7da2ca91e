/* NADs of every network, one at a time. */
function nads(root, offered) {
  const networks = Object.values(offered), select = $("nads-network"), slider = $("nads-slider");
  options(select, networks);
  let network, pixels;
  function show(place) {
    const index = network.indices[place];
    slider.value = place;
    slider.setAttribute("aria-valuetext", `NAD ${index}`);
    $("nads-index").textContent = `NAD ${index}`;
    const rows = [["index", `${index} of 0 to ${network.last}`]];
    if (network.eigenvalues) {
      const scientific = (value) => { const [a, b] = value.toExponential(2).split("e"); return `${a}·10${[...String(+b)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`; };
      const [first, last] = network.nearby[place];
      rows.push(["strength λ", `${scientific(network.eigenvalues[place])} ± ${scientific(network.standard_errors[place])} (standard error, ${network.networks} untrained networks)`]);
      rows.push(["cannot be told from", last > first ? `indices ${first} to ${last}: only what they span is known` : "no other: this direction stands alone"]);
    } else rows.push(["taken from", String(network.file)]);
    terms($("nads-read"), rows);
    spectrum(network, place);
    const values = direction(network, pixels, place);
    draw($("nads-pixels"), values, network.shape);
    $("nads-pixels").setAttribute("aria-label", `NAD ${index} in pixels`);
  }
  async function pick() {
    const picked = networks[select.value], decoded = await sheet(picked);
    if (networks[select.value] !== picked) return; // another was picked meanwhile
    [network, pixels] = [picked, decoded];
    slider.max = network.indices.length - 1;
    show(0);
  }
  addEventListener("resize", () => network && show(+slider.value));
  select.addEventListener("change", pick);
  slider.addEventListener("input", () => show(+slider.value));
  pick();
}
/* √λ with two standard errors over the index, both logarithmic, and the span of a direction. */
function spectrum(network, chosen) {
  const svg = $("nads-spectrum"), { width } = svg.getBoundingClientRect(), [left, right, top, bottom] = [8, width - 8, 8, 150];
  svg.setAttribute("viewBox", `0 0 ${width} 180`);
  svg.replaceChildren();
  $("nads-legend").textContent = "";
  if (!network.eigenvalues || !width) return;
  const { eigenvalues, standard_errors: errors, indices } = network, end = Math.log(network.last + 1) || 1;
  const x = (index) => left + ((right - left) * Math.log(index + 1)) / end;
  const log = (value) => Math.log(Math.max(value, eigenvalues[0] * 1e-9)), high = log(eigenvalues[0] + 2 * errors[0]);
  const low = Math.min(...eigenvalues.map(log)), y = (value) => Math.min(bottom, bottom - ((bottom - top) * (log(value) - low)) / (high - low || 1));
  const line = (values) => values.map((value, place) => `${x(indices[place]).toFixed(1)},${y(value).toFixed(1)}`);
  const [from, to] = network.nearby[chosen], here = x(indices[chosen]);
  const upper = line(eigenvalues.map((value, place) => value + 2 * errors[place])), lower = line(eigenvalues.map((value, place) => value - 2 * errors[place]));
  svg.append(element("svg:rect", { x: x(from) - 1, width: x(to) - x(from) + 2, y: top, height: bottom - top, fill: "var(--mark)", opacity: 0.25 }));
  svg.append(element("svg:polygon", { points: [...upper, ...lower.reverse()].join(" "), fill: "var(--ours)", opacity: 0.35 }));
  svg.append(element("svg:polyline", { points: line(eigenvalues).join(" "), fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
  svg.append(element("svg:line", { x1: here, x2: here, y1: top, y2: bottom, stroke: "var(--mark)", "stroke-width": 2 }));
  svg.append(element("svg:line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "currentColor", opacity: 0.4 }));
  for (const index of [0, 10, 100, 1000].filter((each) => each <= network.last))
    svg.append(element("svg:text", { x: x(index), y: bottom + 16, "text-anchor": !index ? "start" : x(index) > right - 20 ? "end" : "middle" }, String(index)));
  $("nads-legend").textContent = "line: √λ over the index, both logarithmic; blue: ± 2 standard errors; shaded: what cannot be told apart";
}
