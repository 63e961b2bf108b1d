// How good decisions are: figures of windows whose class is known, by cross-validation or of a model.
"use strict";

const percent = (share) => number(100 * share, 3);

/// Each classifier of a report: name, figures, and the windows if they are there.
function classifiersOf(document_) {
  const { results, judged } = document_;
  const windows = (name, index) => judged.find((one) => one.name === name) ?? judged[index];
  if (Array.isArray(results.classifiers)) return results.classifiers.map((one, i) => ({ name: one.classifier, figures: one, judged: windows(one.classifier, i) }));
  if (results.classifiers) return Object.entries(results.classifiers).map(([name, one], i) => ({ name, figures: one, judged: windows(name, i) }));
  if (results.models) return results.models.map((one, i) => ({ name: one.model, figures: one, judged: windows(one.model, i) }));
  return results.confusion ? [{ name: results.model, figures: results, judged: judged[0] }] : [];
}

/// Shows a report's figures, those of the best classifier first.
function showJudged(document_) {
  const all = classifiersOf(document_).filter(({ figures }) => figures.confusion);
  if (all.length === 0) return hide("accuracy");
  state.judged = document_;
  const best = all.reduce((best, one, i) => (one.figures.accuracy > all[best].figures.accuracy ? i : best), 0);
  const choose = element("select", { onchange: () => showClassifier(all[Number(choose.value)]) },
    ...all.map(({ name }, i) => element("option", { value: i, selected: i === best }, name)));
  at("classifiers").replaceChildren(...(all.length > 1 ? [element("label", {}, "Classifier", choose)] : []));
  showClassifier(all[best]);
  show("accuracy");
  return undefined;
}

function showClassifier({ figures, judged }) {
  const { results } = state.judged, count = figures.windows ?? figures.records, what = figures.records === undefined ? "windows" : "records";
  const { low, high } = figures.interval ?? {};
  at("figure").textContent = WORDS.accuracy(percent(figures.accuracy), low === undefined ? "" : `${percent(low)} to ${percent(high)}`, count, what);
  at("groups").textContent = results.folds === undefined ? results.protocol ?? WORDS.ofModel(results.data ?? "")
    : results.group ? WORDS.grouped(results.group) : WORDS.notGrouped;
  showConfusion(figures, judged);
  at("classes").replaceChildren(table(["class", what, "recall", "precision", "F1"],
    figures.per_class.map((each) => [each.class, String(each.windows), percent(each.recall) + " %", percent(each.precision) + " %", number(each.f1)])));
  showGroups(figures, results);
  showRoc(figures, judged);
  showCalibration(figures.calibration ?? figures.believed?.calibration);
  showRejection(judged);
}

function showConfusion({ classes, confusion }, judged) {
  const most = confusion.map((row) => row.reduce((a, b) => a + b, 0));
  const cells = confusion.map((row, truth) => [element("th", { scope: "row" }, classes[truth]), ...row.map((count, decided) => {
    const share = count / Math.max(1, most[truth]);
    const cell = element("td", { class: count === 0 ? "cell" : truth === decided ? "cell right" : "cell wrong" }, `${count} (${percent(share)} %)`);
    return judged ? clickable(cell, () => showWindows(judged, truth, decided)) : cell;
  })]);
  at("confusion").replaceChildren(element("p", { class: "dim" }, judged ? WORDS.confusion : WORDS.confusionAlone), table(["", ...classes], cells));
  at("windows").replaceChildren();
}

/// The windows of a cell, those decided most surely first.
function showWindows({ classes, windows }, truth, decided) {
  const own = windows.filter(([, , label, decision]) => label === truth && decision === decided).sort((a, b) => b[4] - a[4]);
  const { names, results } = state.judged;
  const length = results.window;
  const shown = new Set(state.tidy?.series.map(({ id }) => id));
  const rows = own.slice(0, 50).map(([series, start, , , margin]) => {
    const [id] = names[series] ?? [String(series)];
    const go = () => { at("series").value = id; showSeries(); at("timeline").scrollIntoView(); };
    const cell = shown.has(id) ? element("button", { type: "button", onclick: go }, id) : id;
    return [element("td", {}, cell), String(start), length ? String(start + length) : "its end", number(margin)];
  });
  at("windows").replaceChildren(element("p", {}, WORDS.windows(own.length, classes[truth], classes[decided])),
    ...(rows.length > 0 ? [table(["series", "from", "to", "margin"], rows)] : []));
}

function showGroups(figures, { group, groups }) {
  const of = (figures.folds ?? []).filter((one) => one.groups?.length > 0);
  const rows = groups?.length > 0 ? groups.map((one) => [one.group, String(one.windows), `${percent(one.accuracy)} %`])
    : of.map((one) => [one.groups.join(", "), String(one.windows), `${percent(one.accuracy)} %`]);
  at("by-group").replaceChildren(...(rows.length > 0 ? [element("h3", {}, WORDS.byGroup(group ?? "group")), table([group ?? "group", "windows", "accuracy"], rows)] : []));
}

function showRoc({ roc }, judged) {
  const points = judged?.roc ?? [];
  if (!roc || points.length === 0) return at("roc").replaceChildren();
  const words = judged.classes.length === 2 ? WORDS.rocTwo(judged.classes[1]) : WORDS.rocMean(judged.classes.length);
  return at("roc").replaceChildren(element("h3", {}, WORDS.roc(number(roc.area))), element("p", { class: "dim" }, words),
    shareChart({ curves: [{ points: [[0, 0], [1, 1]], colour: "currentColor", dashed: true }, { points, colour: colour(0) }],
      x: "false alarms", y: "detected", label: WORDS.roc(number(roc.area)) }));
}

function showCalibration(calibration) {
  if (!calibration) return at("calibration").replaceChildren();
  const points = calibration.reliability.map(({ confidence, right, windows }) => [confidence, right, `${windows} windows`]);
  const error = percent(calibration.calibration_error);
  return at("calibration").replaceChildren(element("h3", {}, WORDS.calibration(error)), element("p", { class: "dim" }, WORDS.calibrated),
    shareChart({ curves: [{ points: [[0, 0], [1, 1]], colour: "currentColor", dashed: true }, { points, colour: colour(1), dots: true }],
      x: "probability", y: "decided right", label: WORDS.calibration(error) }));
}

/// Accuracy among the windows that are kept, when those of the least margin are rejected.
function showRejection(judged) {
  const windows = (judged?.windows ?? []).filter(([, , , decision]) => decision !== null).sort((a, b) => b[4] - a[4]);
  if (windows.length < 2) return at("rejection").replaceChildren();
  let right = 0;
  const accuracy = windows.map(([, , label, decision], i) => (right += label === decision ? 1 : 0) / (i + 1));
  const every = Math.max(1, Math.floor(windows.length / 200));
  const points = accuracy.map((value, i) => [(i + 1) / windows.length, value]).filter((_, i) => i % every === 0 || i === windows.length - 1);
  const slider = element("input", { type: "range", min: 1, max: 100, value: 100, oninput: () => move() });
  const words = element("p", { role: "status" }), chart = element("div");
  const move = () => {
    const kept = Math.max(1, Math.round((windows.length * Number(slider.value)) / 100));
    words.textContent = WORDS.rejected(number(100 * (1 - kept / windows.length)), number(windows[kept - 1][4]), percent(accuracy[kept - 1]), kept);
    chart.replaceChildren(shareChart({ curves: [{ points, colour: colour(2) }], x: "share of windows kept", y: "accuracy", label: WORDS.rejection, mark: kept / windows.length }));
  };
  at("rejection").replaceChildren(element("h3", {}, WORDS.rejection), element("p", { class: "dim" }, WORDS.rejecting),
    element("label", {}, "Windows kept, per cent", slider), words, chart);
  move();
  return undefined;
}
