/* Every NAD of every network, one at a time. */
function nads() {
  const networks = data.nads, select = $("nads-network"), slider = $("nads-slider"), number = $("nads-number");
  options(select, networks.map((network) => network.name));
  select.value = Math.max(0, networks.findIndex((network) => Object.keys(network.accuracies).length));
  let network, pixels;
  function show(index, typed) {
    slider.value = index;
    slider.setAttribute("aria-valuetext", `NAD ${index}`);
    if (!typed) number.value = index;
    const more = network.left_out ? ` (of the ${network.left_out} weaker ones the page has no pictures)` : "";
    const rows = [["index", `${index} of 0 to ${network.count - 1}${more}`]];
    if (network.eigenvalues) {
      const scientific = (value) => { const [a, b] = value.toExponential(2).split("e"); return `${a}·10${[...String(+b)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`; };
      const [first, last] = network.nearby[index];
      rows.push(["eigenvalue λ", `${scientific(network.eigenvalues[index])} ± ${scientific(network.standard_errors[index])} (standard error, ${network.networks} untrained networks)`]);
      rows.push(["cannot be told from", last > first ? `indices ${first} to ${last}: only the space they span is known` : "no other: this direction stands alone"]);
    } else rows.push(["taken from", String(network.file)]);
    const { accuracies, published } = network;
    if (accuracies[index]) rows.push(["accuracy along it", said(accuracies[index])]);
    if (published && index in published.values) rows.push([published.called, `${published.values[index]} % (along the published NAD ${index})`]);
    terms($("nads-read"), rows);
    spectrum(network, index);
    const values = direction(network, pixels, index);
    draw($("nads-pixels"), values, network.shape);
    heat($("nads-energy"), energy(values, network.shape), network.shape[1], network.shape[2]);
    $("nads-pixels").setAttribute("aria-label", `NAD ${index} in pixels`);
    $("nads-energy").setAttribute("aria-label", `NAD ${index}: its energy over frequency`);
  }
  async function pick() {
    const picked = networks[select.value], decoded = await sheet(picked);
    if (networks[select.value] !== picked) return; // another was picked meanwhile
    [network, pixels] = [picked, decoded];
    slider.max = number.max = network.count - 1;
    const measured = Object.keys(network.accuracies).map(Number);
    $("nads-jumps").replaceChildren(...(measured.length ? ["networks were trained along NAD "] : []), ...measured.map((index) => {
      const jump = element("button", { type: "button" }, String(index));
      jump.addEventListener("click", () => show(index));
      return jump;
    }));
    show(0);
  }
  select.addEventListener("change", pick);
  slider.addEventListener("input", () => show(+slider.value));
  number.addEventListener("input", () => number.value !== "" && show(Math.max(0, Math.min(network.count - 1, Math.round(number.value))), true));
  pick();
}
/* √λ over the index, both logarithmic, with the span of a direction, and accuracies where networks were trained. */
function spectrum(network, chosen) {
  const svg = $("nads-spectrum"), [left, right, top, bottom] = [8, 312, 8, 150];
  svg.replaceChildren();
  $("nads-legend").textContent = "";
  if (!network.eigenvalues) return;
  const last = Math.log(network.count) || 1;
  const x = (index) => left + ((right - left) * Math.log(index + 1)) / last;
  const values = network.eigenvalues.map((value) => Math.log(Math.max(value, network.eigenvalues[0] * 1e-9)));
  const low = Math.min(...values), range = values[0] - low || 1;
  const y = (value) => bottom - ((bottom - top) * (value - low)) / range;
  const [from, to] = network.nearby[chosen];
  svg.append(element("svg:rect", { x: x(from) - 1, width: x(to) - x(from) + 2, y: top, height: bottom - top, fill: "var(--mark)", opacity: 0.25 }));
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  svg.append(element("svg:polyline", { points, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));
  for (const [index, [mean]] of Object.entries(network.accuracies))
    svg.append(element("svg:circle", { cx: x(+index), cy: bottom - (bottom - top) * Math.max(0, 2 * mean - 1), r: 4, fill: "var(--ours)" }));
  const here = x(chosen);
  svg.append(element("svg:line", { x1: here, x2: here, y1: top, y2: bottom, stroke: "var(--mark)", "stroke-width": 2 }));
  svg.append(element("svg:line", { x1: left, x2: right, y1: bottom, y2: bottom, stroke: "currentColor", opacity: 0.4 }));
  for (const index of [0, 10, 100, 1000].filter((each) => each < network.count))
    svg.append(element("svg:text", { x: x(index), y: bottom + 16, "text-anchor": !index ? "start" : x(index) > right - 20 ? "end" : "middle" }, String(index)));
  $("nads-legend").textContent = `line: √λ, logarithmic, over the index; shaded: what cannot be told apart${Object.keys(network.accuracies).length ? "; dots: accuracy, 50 % at the bottom, 100 % at the top" : ""}`;
}
