/* The maps over frequency, to point at. */
function fourier(offered) {
  const networks = Object.values(offered), select = $("fourier-network");
  options(select, networks);
  const best = ({ cells }) => Object.keys(cells).reduce((a, b) => (cells[b][0] > cells[a][0] ? b : a)).split(",").map(Number);
  let last = networks[0].start ?? [8, 8]; // the wave that the text speaks of
  function read(r, c) {
    last = [r, c];
    const { cells, steps, sides } = networks[select.value], [height, width] = sides, found = cells[[r, c]];
    const wave = new Float32Array(height * width);
    for (let row = 0; row < height; row++)
      for (let column = 0; column < width; column++) wave[row * width + column] = Math.cos(2 * Math.PI * ((r * row) / height + (c * column) / width));
    draw($("fourier-wave"), wave, [1, height, width]);
    const { pools } = networks[select.value]; // how often the network takes the largest of 2×2 pixels, where the page knows
    $("fourier-pooled").parentElement.hidden = !pools;
    if (pools) draw($("fourier-pooled"), pooled(pooled(wave, width), width / 2), [1, height / 4, width / 4]);
    const learned = steps?.[[r, c]];
    terms($("fourier-read"), [["wave", minus(`(${r}, ${c})`)], ["accuracy", found ? said(found) : "not trained here"],
      ...(steps && found ? [["training set learned after", learned ? `${learned.toFixed(0)} steps of training` : "not within its training"]] : [])]);
  }
  function pick() {
    const { name, cells } = networks[select.value], ks = Object.keys(cells).map((key) => key.split(",").map(Number));
    const [rows, columns] = [0, 1].map((n) => [...new Set(ks.map((k) => k[n]))].sort((a, b) => a - b));
    const look = unfitted(Object.values(cells), $("fourier-legend"));
    const choose = grid($("fourier-grid"), rows, columns, (r, c) => {
      const found = cells[[r, c]], where = minus(`(${r}, ${c})`);
      if (!found) return { name: `${where}: not trained`, look: "empty" };
      return { name: `${where}: ${percent(found[0], 0)} %`, style: shade(found[0]), text: columns.length <= 9 ? percent(found[0], 0) : "", ...look(found) };
    }, read);
    $("fourier-grid").firstChild.setAttribute("aria-label", `Accuracy of ${name} over frequency`);
    if (!cells[last]) last = best(networks[select.value]);
    choose(rows.indexOf(last[0]), columns.indexOf(last[1]));
  }
  $("fourier-key").style.background = `linear-gradient(90deg, ${page.colours.map((rgb) => `rgb(${rgb.join(",")})`).join(",")})`;
  select.addEventListener("change", pick);
  pick();
}
/* A picture of half the width, each pixel the mean of 2×2. */
function pooled(values, width) {
  const half = width / 2;
  return new Float32Array(values.length / 4).map((_, place) => {
    const at = 2 * Math.floor(place / half) * width + 2 * (place % half);
    return (values[at] + values[at + 1] + values[at + width] + values[at + width + 1]) / 4;
  });
}
