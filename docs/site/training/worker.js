/* What a worker of the page does: its message names a task, and it answers with progress and with the result. */

const TASKS = {
  train: ({ architecture, v, seed }, report) => trainNetwork(architecture, v, seed, report),
  secants: ({ count, seed }) => drawSecants(count, seed),
  nads: ({ secants }) => nadsOf(secants),
};

if (typeof document === "undefined")
  onmessage = ({ data: { task, ...values } }) => {
    const result = TASKS[task](values, (...progress) => postMessage({ progress }));
    postMessage({ result });
  };
