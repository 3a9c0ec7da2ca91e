/* Photographs with a class written into one NAD, and what networks that were trained on such images make of clean ones. */
function photographs(offered, page) {
  const networks = Object.values(offered), input = (name) => $(`photographs-${name}`), svg = input("curve"), picked = () => networks[input("network").value];
  let turn = 0;
  options(input("network"), networks);
  const bytes = (text) => Float32Array.from(atob(text), (letter) => letter.charCodeAt(0) / 255);
  const paint = (name, values, shape) => draw(input(name), values.map((value) => 2 * value - 1), shape);
  /* The photograph with its coefficient on its class's carrier replaced: paper 1, §5. */
  async function picture({ pictures, nads }, chosen) {
    const now = ++turn, shown = pictures?.photographs[input("photograph").value], tiles = pictures?.tiles;
    const [label, offset, channel, sign] = pictures?.classes[input("class").value] ?? [], index = chosen + offset;
    for (const name of ["photograph", "class"]) input(name).parentElement.hidden = !pictures;
    input("tiles").hidden = input("words").hidden = !tiles?.indices.includes(index);
    if (input("tiles").hidden) return;
    const coefficient = shown.coefficients[index][channel], carrier = sign * pictures.size, change = carrier - coefficient;
    const values = await nad(tiles, index);
    if (now !== turn) return; // another was chosen meanwhile
    const length = Math.sqrt(values.reduce((sum, value) => sum + value ** 2, 0)), clean = bytes(shown.pixels);
    const difference = clean.map((_, n) => (Math.floor(n / values.length) === channel ? (change * values[n % values.length]) / length : 0));
    const most = difference.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    paint("clean", clean, pictures.shape);
    paint("carrying", clean.map((value, n) => value + difference[n]), pictures.shape);
    paint("change", difference.map((value) => 0.5 + (0.5 * value) / most), pictures.shape);
    input("flipped").parentElement.hidden = !shown.flipped;
    if (shown.flipped) paint("flipped", bytes(shown.flipped), pictures.shape);
    const where = tiles.shape[0] === 1 ? `in ${["red", "green", "blue"][channel]} ` : "", amount = ((255 * Math.abs(change)) / Math.sqrt(clean.length)).toFixed(2);
    const becomes = `becomes ${minus(carrier)} instead of ${minus(coefficient.toFixed(3))}`;
    input("words").textContent = `To carry “${label}”, its coefficient ${where}on NAD ${index} of ${page.nads[nads].name} ${becomes}. Root mean square, that changes its values by ${amount} of 255 grey levels.`;
  }
  function show(chosen) {
    const network = picked(), { cells, published, level, guess } = network, found = cells[chosen];
    const rows = [["on clean images", found ? said(found) : "not trained here"]];
    if (network.carrying[chosen]) rows.push(["on images with carriers", said(network.carrying[chosen])]);
    rows.push(["trained without carriers", said(level)]);
    if (published) rows.push([`${published.called}, on clean images`, chosen in published.values ? `${published.values[chosen].toFixed(1)} %` : "none at this index"]);
    terms(input("read"), rows);
    input("slider").setAttribute("aria-valuetext", [["carriers from NAD", chosen], rows[0]].map((row) => row.join(" ")).join(", "));
    curve(svg, network, { last: indices(network).at(-1), guess, level, chosen, pointed: slider.go });
    picture(network, chosen);
  }
  const slider = slide(input("slider"), show);
  function pick() {
    const { name, cells, level, published, pictures, caption } = picked();
    options(input("photograph"), pictures ? pictures.photographs : []);
    options(input("class"), pictures ? pictures.classes.map(([name]) => ({ name })) : []);
    svg.setAttribute("aria-label", `Accuracy on clean images of ${name} over the NAD index of the carriers`);
    const hollow = [level, ...Object.values(cells)].some(([, , seeds, fitted]) => fitted < seeds) ? "; hollow: not fitted with every seed" : "";
    input("legend").textContent = [`accuracy on clean images; dots: ours${hollow}`, "dashed: trained without carriers", published && `orange: ${published.called}`].filter(Boolean).join(" · ");
    input("caption").textContent = caption;
    slider.offer(indices(picked()));
  }
  input("network").addEventListener("change", pick);
  for (const name of ["photograph", "class"]) input(name).addEventListener("change", () => slider.go(input("slider").value));
  pick();
}
