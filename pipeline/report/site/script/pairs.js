/* The pairs of channels, to point at. */
function pairs(offered) {
  const networks = Object.values(offered), select = $("pairs-network"), test = $("pairs-test");
  options(select, networks);
  test.value = "first";
  let last;
  function plane({ means, extent, points }, cell) {
    const bytes = Uint8Array.from(atob(cell.plane), (letter) => letter.charCodeAt(0)), canvas = $("pairs-plane");
    const small = element("canvas");
    draw(small, [0, 1, 2].flatMap((c) => Array.from(bytes, (byte) => colour(byte / 255)[c] / 127.5 - 1)), [3, points, points]);
    const side = (canvas.width = canvas.height = 330), context = canvas.getContext("2d"), unit = side / points;
    context.imageSmoothingEnabled = false;
    context.setTransform(1, 0, 0, -1, 0, side); // up is along v₂
    context.drawImage(small, 0, 0, side, side);
    const level = 127.5, value = (r, c) => bytes[r * points + c] - level;
    context.beginPath(); // the boundary: where neighbours lie on either side of one half
    for (let r = 0; r + 1 < points; r++)
      for (let c = 0; c + 1 < points; c++) {
        const corners = [[r, c], [r, c + 1], [r + 1, c + 1], [r + 1, c]], cuts = [];
        corners.forEach((a, n) => {
          const b = corners[(n + 1) % 4], [p, q] = [value(...a), value(...b)];
          if (p > 0 !== q > 0) cuts.push([(a[1] + (b[1] - a[1]) * (p / (p - q)) + 0.5) * unit, (a[0] + (b[0] - a[0]) * (p / (p - q)) + 0.5) * unit]);
        });
        for (let n = 0; n + 1 < cuts.length; n += 2) context.moveTo(...cuts[n]), context.lineTo(...cuts[n + 1]);
      }
    if (cell.tilt) for (const [style, width] of [["#000", 5], ["#fff", 2.5]]) (context.strokeStyle = style), (context.lineWidth = width), context.stroke();
    const at = (coordinate) => ((coordinate / extent) * ((points - 1) / points) + 1) * (side / 2);
    for (const sign of [-1, 1]) {
      const [a, b] = means.map((mean) => at(sign * mean));
      context.beginPath();
      if (sign < 0) context.arc(a, b, 6, 0, 7);
      else context.moveTo(a - 7, b - 5), context.lineTo(a + 7, b - 5), context.lineTo(a, b + 8), context.closePath();
      (context.fillStyle = "#fff"), (context.strokeStyle = "#000"), (context.lineWidth = 1.5), context.fill(), context.stroke();
    }
  }
  function pick() {
    const network = networks[select.value], { indices, cells, margin } = network;
    const look = unfitted(Object.values(cells).map((cell) => cell[test.value]), $("pairs-legend"));
    const choose = grid($("pairs-grid"), indices, indices, (first, second) => {
      const found = cells[[first, second]][test.value], [mean] = found;
      return { name: `NADs ${first} and ${second}: ${percent(mean, 0)} %`, text: percent(mean, 0), style: shade(mean), ...look(found) };
    }, (first, second) => {
      last = [first, second];
      const cell = cells[[first, second]], rows = [["first channel", `NAD ${first}`], ["second channel", `NAD ${second}`]];
      rows.push(["accuracy with both", said(cell.all)], ["with only channel 1", said(cell.first)]);
      rows.push(["with only channel 2", said(cell.second) + (cell.best ? `; at the best threshold ${spread(...cell.best)} %` : "")]);
      $("pairs-boundary").hidden = !cell.plane;
      if (cell.plane) {
        plane(network, cell);
        const tilt = cell.tilt ? `${spread(...cell.tilt.map((value) => value && value / 100))}° (0°: first channel only, 90°: second only, ${margin.toFixed(1)}°: maximum margin)`
          : cell.learned ? "not given: the network was not fitted" : "none: it decides nothing in this plane";
        rows.push(["training accuracy", `${percent(cell.training)} %`], ["tilt of the boundary", tilt]);
      }
      terms($("pairs-read"), rows);
    });
    $("pairs-grid").firstChild.setAttribute("aria-label", `Accuracy of ${network.name} over pairs of NADs`);
    choose(...last.map((index) => indices.indexOf(index)));
  }
  const start = () => {
    const { indices } = networks[select.value];
    last = [indices.at(-1), indices[0]]; // the latest NAD in the stronger channel
    pick();
  };
  select.addEventListener("change", start);
  test.addEventListener("change", pick);
  start();
}
