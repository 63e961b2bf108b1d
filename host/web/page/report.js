// A report: the page's parts over the results of a command, without the program; with its model, if the page has what decides by it.
"use strict";

function showReport(document_) {
  const { command, results, model, inspection } = document_;
  at("about").textContent = WORDS.report(command, results.data ?? "", at("scorer").textContent !== "");
  state.tidy = seriesOf(document_);
  const names = document_.names.map(([id]) => id);
  state.decisions = document_.decisions.map((one) => ({ ...one, series: names[one.series] }));
  state.events = document_.events ?? [];
  state.marks = document_.marks;
  state.info = inspection ?? undefined;
  state.model = model ?? undefined;
  // Decisions of a cross-validation are those of models that had not seen the series.
  if (state.decisions.length === 0) state.decisions = heldOut(document_);
  showJudged(document_);
  if (results.differing_bits !== undefined) showParity(document_);
  showTimeline();
  showLearnt();
  if (state.info) showDevice();
  showCard(document_.card);
  at("text-words").textContent = document_.text;
  show("text");
}

/// Held-out decisions of the classifier that is shown first.
function heldOut({ judged, results, names, series }) {
  const [best] = [...judged].sort((a, b) => right(b) - right(a));
  const lengths = new Map(series.map((one) => [one.series, one.length]));
  return (best?.windows ?? []).map(([index, start, , decision, margin]) => ({
    series: names[index][0], start, end: start + (results.window ?? lengths.get(index) ?? 0), class: best.classes[decision], margin,
  }));
}
const right = ({ windows }) => windows.filter(([, , label, decision]) => label === decision).length;

/// Text with what stands between backticks as code.
const coded = (text) => text.split("\x60").map((part, i) => (i % 2 === 1 ? element("code", {}, part) : part));

function showCard(card) {
  if (!card) return hide("card");
  const part = ({ title, text, facts, heads, rows: cells, listing }) => [
    element("h3", {}, title), ...text.map((one) => element("p", {}, ...coded(one))),
    ...(facts.length > 0 ? [element("dl", {}, ...facts.flatMap(([name, value_]) => [element("dt", {}, name), element("dd", {}, value_)]))] : []),
    ...(cells.length > 0 ? [table(heads, cells)] : []), ...(listing ? [element("pre", { class: "scroll" }, listing)] : []),
  ];
  at("card-sections").replaceChildren(...card.sections.flatMap(part));
  return show("card");
}
