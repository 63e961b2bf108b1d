// All that the page says, in one place.
"use strict";

const WORDS = {
  waking: "Unpacking the program …",
  ready: "Ready. Nothing that you drop here leaves this page: it cannot connect to anything.",
  unsupported: "This browser cannot run the program: it lacks WebAssembly or DecompressionStream. A browser from 2023 or later has both.",
  reading: "Reading …",
  tooLarge: (megabytes) => `These files have ${megabytes} MB, and a page holds 200. Thin them out, or use the command: fishweir fit --out-of-core.`,
  noFiles: "These hold no files.",
  broken: "The program broke off, probably for lack of memory. Try fewer or shorter recordings, or the command `fishweir`.",
  cancelled: "Cancelled.",
  automatic: "found by itself",
  none: "none",
  read: (series, samples, rate) =>
    `${series} series, ${samples} samples${rate ? `, ${rate} per second` : ", without times"}.`,
  classes: (classes) => classes.map(([name, count]) => `${name} (${count})`).join(", "),
  unlabelled: (count) => `${count} series have no label: they can be decided on, not trained with.`,
  oneClass: "A classifier needs two classes at least.",
  window: (samples, seconds, hop) =>
    `Windows of ${samples} samples${seconds ? ` (${seconds} s)` : ""}, a decision every ${hop} samples.`,
  fitting: "Training …",
  judging: "Judging: models are trained on some series and judged on the others …",
  accuracy: (percent, low, high, windows) =>
    `${percent} % of ${windows} windows are decided right (95 % interval: ${low} to ${high} %), on series that training did not see.`,
  grouped: (group) => `All series of one ${group} were either trained on or judged.`,
  notGrouped: "Series were drawn one by one. If several are of one person or device, choose that column above: accuracy on a new one will be lower.",
  wrong: (truth, decided, count, found) =>
    `${count} windows of ${truth} were decided as ${decided} by models that had not seen them. The model that you take along, which was trained on all series, decides so of ${found}${found > 0 ? ":" : "."}`,
  confusion: "Rows: the truth. Columns: the decision. A click shows these windows.",
  timeline: "Margin: how far the class decided for is ahead of the next. A click on a window shows what each sample added to it.",
  explained: (series, start, end, chosen, rival) =>
    `Series ${series}, samples ${start} to ${end}: what each sample added to the margin of ${chosen} over ${rival}.`,
  prices: "At the rate of the data, from counts of operations measured on emulated cores. A range is from the least to the most that was measured.",
  perSecond: (times) => `${times} % of the time`,
  notMeasured: "not measured",
  learnt: "Each line of a state: its mean in each channel, in units of the training data's spread.",
  model: (number_, all) => `Model ${number_} of ${all}`,
  noMotion: "No motion sensor answers. A phone asks for permission, and gives it to pages by HTTPS only: any static host will do.",
  noLabel: "Name the class first.",
  countDown: (left) => `${left} …`,
  recording: (label, seconds) => `${label}: ${seconds} s …`,
  recorded: (takes) => `Recorded, with the number of samples: ${takes}.`,
  live: (rate, length, hop) => `${rate} samples per second, windows of ${length}, a decision every ${hop}. Choose which sensor each channel of the model is.`,
  decided: (margin, milliseconds, left) => `margin ${margin}, in ${milliseconds} ms${left > 0 ? `; ${left} decisions left out, this device is too slow` : ""}`,
  pasted: (line, channels) => `Line ${line}: write ${channels.length} numbers, ${channels.join(", ")}; NA where one is missing.`,
  lowRows: (shown, all) => `${shown} of ${all} series are drawn.`,
};
