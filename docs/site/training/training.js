/* Networks that train while one looks. Needs basis.js; the networks themselves run in workers, on the code of the page's script #training-code. */

const LEARNERS = { linear: "linear network", pooled: "CNN with max pooling", strided: "CNN with strides" };
const NETWORKS = 60;

/* A function from a task and its values to a promise of the result; see worker.js. Tasks wait until a worker is free. */
function createWorkers() {
  const url = URL.createObjectURL(new Blob([$("training-code").textContent], { type: "text/javascript" }));
  const count = Math.max(1, Math.min(4, navigator.hardwareConcurrency || 2));
  const idle = Array.from({ length: count }, () => new Worker(url)), waiting = [];
  function next() {
    if (!idle.length || !waiting.length) return;
    const worker = idle.pop(), { message, report, done } = waiting.shift();
    worker.onmessage = ({ data }) => {
      if (data.progress) return report(...data.progress);
      idle.push(worker);
      next();
      done(data.result);
    };
    worker.postMessage(message);
  }
  const run = (task, values, report = () => {}) =>
    new Promise((done) => {
      waiting.push({ message: { task, ...values }, report, done });
      next();
    });
  return { run, count };
}

function drawImage(id, values) {
  const most = Math.max(...values.map(Math.abs));
  draw($(id), values.map((value) => value / most), [1, SIDE, SIDE]);
}

/* The accuracies of one network after each epoch, [epoch, train, test], from 40 to 100 %: thick for new pictures, thin for training pictures. */
function drawCourse(svg, course) {
  const plot = empty(svg, 116, 48);
  if (!plot) return;
  const { left, right, top, bottom, add, label, line } = plot;
  const x = (epoch) => left + ((right - left) * epoch) / TRAINING.epochs;
  const y = (accuracy) => bottom - ((bottom - top) * (Math.max(0.4, accuracy) - 0.4)) / 0.6;
  for (const accuracy of [0.5, 0.75, 1]) {
    add("line", { x1: left, x2: right, y1: y(accuracy), y2: y(accuracy), stroke: "currentColor", opacity: accuracy === 0.5 ? 0.5 : 0.15 });
    label([left - 6, y(accuracy) + 4], `${percent(accuracy, 0)} %`, "end");
  }
  for (const [column, width] of [[1, 1], [2, 3]]) line(course.map((row) => [x(row[0]), y(row[column])]), { stroke: "var(--ours)", "stroke-width": width });
  label([(left + right) / 2, bottom + 12], "training");
}

function verdict({ train, test }) {
  const numbers = `New pictures: ${percent(test, 0)} %, training pictures: ${percent(train, 0)} %. `;
  if (test > 0.9) return `${numbers}It found v.`;
  if (train < 0.9) return `${numbers}It does not fit.`;
  return numbers + (test < 0.65 ? "It memorised." : "It found v in part.");
}

/* What became of a bet, from the test accuracies of the three networks. */
function outcome(results, bet) {
  const names = Object.keys(results), failed = names.filter((name) => results[name].test < 0.65);
  if (!failed.length) return "No network failed.";
  const text = `${failed.map((name) => `The ${LEARNERS[name]}`).join(" and ")} failed.`;
  if (!bet) return text;
  return `${text} ${failed.includes(bet) ? "You won your bet." : `You bet on the ${LEARNERS[bet]}.`}`;
}

function trainThree(workers) {
  let seed = 0;
  let turn = 0;
  const input = (name) => $(`training-${name}`), charts = {};
  for (const [name, label] of Object.entries(LEARNERS)) {
    const svg = element("svg:svg", { role: "img", "aria-label": `Accuracy of the ${label} during training` });
    const words = element("p");
    input("learners").append(element("div", {}, element("h3", {}, label), svg, words));
    charts[name] = { svg, words, course: [] };
  }
  const drawAll = () => Object.values(charts).forEach(({ svg, course }) => drawCourse(svg, course));
  function show() {
    const [down, across] = [+input("down").value, +input("across").value], v = fourierDirection(down, across);
    const samples = drawSamples(v, 32, 1);
    drawImage("training-v", v);
    for (const [name, label] of [["minus", -1], ["plus", 1]]) drawImage(`training-${name}`, samples.find((sample) => sample.label === label).image);
    for (const [name, frequency] of Object.entries({ down, across })) input(`${name}-is`).textContent = frequency;
    input("called").textContent = `the pattern v: wave (${down}, ${across})`;
    input("outcome").textContent = "";
    for (const chart of Object.values(charts)) {
      chart.course = [];
      chart.words.textContent = "";
    }
    drawAll();
    for (const name of Object.keys(LEARNERS)) input(`bet-${name}`).setAttribute("aria-pressed", "false");
    turn += 1; // the networks that train now belong to another pattern
    return v;
  }
  async function start(bet) {
    const v = show(), now = turn;
    seed += 1;
    if (bet) input(`bet-${bet}`).setAttribute("aria-pressed", "true");
    const trained = Object.entries(charts).map(async ([architecture, chart]) => {
      const result = await workers.run("train", { architecture, v, seed }, (...row) => {
        if (now !== turn) return;
        chart.course.push(row);
        drawCourse(chart.svg, chart.course);
      });
      if (now === turn) chart.words.textContent = verdict(result);
      return [architecture, result];
    });
    const results = Object.fromEntries(await Promise.all(trained));
    if (now === turn) input("outcome").textContent = outcome(results, bet);
  }
  for (const name of ["down", "across"]) input(name).addEventListener("input", show);
  for (const name of Object.keys(LEARNERS))
    input(`bet-${name}`).addEventListener("click", () => {
      input("down").value = input("across").value = 4;
      start(name);
    });
  input("start").addEventListener("click", () => start());
  addEventListener("resize", drawAll);
  show();
  return start;
}

/* NADs of more and more untrained networks, drawn as they emerge. Returns the function that starts it, and whose promise is of the last NADs. */
function emerge(workers) {
  const COUNTS = [1, 2, 4, 8, 16, 30, NETWORKS], SHOWN = [0, 1, 3, 10, 60, 250];
  let seed = 1 - NETWORKS;
  let running;
  for (const index of SHOWN) {
    const canvas = element("canvas", { id: `emerge-${index}`, width: SIDE, height: SIDE, role: "img", "aria-label": `NAD ${index} in pixels` });
    $("emerge-tiles").append(element("figure", { class: "tile" }, canvas, element("figcaption", {}, `NAD ${index}`)));
  }
  async function estimate() {
    $("emerge-start").disabled = true;
    seed += NETWORKS;
    const share = Math.ceil(NETWORKS / workers.count), jobs = [];
    for (let first = 0; first < NETWORKS; first += share) jobs.push(workers.run("secants", { count: Math.min(share, NETWORKS - first), seed: seed + first }));
    const secants = (await Promise.all(jobs)).flat();
    let nads = [];
    for (const count of COUNTS) {
      const before = nads;
      nads = await workers.run("nads", { secants: secants.slice(0, count) });
      for (const index of SHOWN) {
        const { direction } = nads[index];
        const turned = before[index]?.direction.reduce((sum, value, n) => sum + value * direction[n], 0) < 0; // a NAD has no sign
        drawImage(`emerge-${index}`, turned ? direction.map((value) => -value) : direction);
        if (turned) nads[index].direction = direction.map((value) => -value);
      }
      $("emerge-words").textContent = `after ${count} untrained network${count > 1 ? "s" : ""}`;
      await new Promise((done) => setTimeout(done, 400));
    }
    $("emerge-start").disabled = false;
    return nads;
  }
  const restart = () => (running = estimate());
  $("emerge-start").addEventListener("click", restart);
  return () => running ?? restart();
}

/* The order of the untrained networks, and then what networks learn along it. */
function forecast(workers, untrained) {
  const TRAINED = [0, 1, 3, 6, 10, 18, 30, 50, 80, 120, 180, 250], input = (name) => $(`forecast-${name}`);
  let seed = 0;
  let nads = [];
  let cells = {};
  function show(chosen) {
    const [high, low] = [nads[0], nads.at(-1)].map((nad) => Math.log(nad?.eigenvalue));
    const response = nads.map(({ eigenvalue }) => (Math.log(eigenvalue) - low) / (high - low));
    curve(input("curve"), { cells }, { last: PIXELS - 1, guess: 0.5, chosen, training: true, response, pointed: slider.go });
    if (nads.length) drawImage("forecast-nad", nads[chosen].direction);
    input("called").textContent = `NAD ${chosen}`;
  }
  const slider = slide(input("index"), show), redraw = () => slider.go(input("index").value);
  async function train() {
    input("train").disabled = true;
    input("words").textContent = "Waiting for the untrained networks …";
    nads = await untrained();
    cells = {};
    seed += 1;
    redraw();
    const trained = TRAINED.map(async (index) => {
      const { train, test } = await workers.run("train", { architecture: "pooled", v: nads[index].direction, seed });
      cells[index] = [test, 0, 1, 1, train];
      input("words").textContent = `${Object.keys(cells).length} of ${TRAINED.length} networks trained`;
      redraw();
    });
    await Promise.all(trained);
    input("train").disabled = false;
  }
  input("train").addEventListener("click", train);
  slider.offer(Array.from({ length: PIXELS }, (_, index) => index));
  return train;
}

/* Start when an element comes into view, unless the reader prefers no motion. */
function whenSeen(root, start) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      start();
    },
    { threshold: 0.3 },
  );
  observer.observe(root);
}

const workers = createWorkers();
const untrained = emerge(workers);
const starts = { training: trainThree(workers), emerge: untrained, forecast: forecast(workers, untrained) };
for (const [name, start] of Object.entries(starts)) whenSeen($(`live-${name}`), () => start());
