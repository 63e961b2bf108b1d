// Charts as SVG, by attributes alone: the page allows no styles from elsewhere.
"use strict";

// Okabe and Ito's colours, which the colour-blind can tell apart.
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"];
const colour = (index) => COLOURS[index % COLOURS.length];

function svg(name, attributes = {}, ...children) {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...children);
  return one;
}

/// An element with attributes, listeners (`onclick`) and children. Text is text, never markup.
function element(name, attributes = {}, ...children) {
  const one = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) one.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) one.setAttribute(key, value === true ? "" : value);
  }
  one.append(...children.filter((child) => child !== undefined && child !== null));
  return one;
}

function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en").replaceAll(",", " ") : String(Number(value.toPrecision(digits)));
}

/// Round steps for an axis.
function ticks(low, high, count = 5) {
  const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const all = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) all.push(at);
  return all;
}

/// Lines over a common axis. `lines`: [{ name, values, colour }]; `marks`: [{ from, to, colour, title, onclick }], bands behind
/// the lines; `x`: [first, step, unit]; `bare`: without values on the axis.
function lineChart({ lines, marks = [], x = [0, 1, "sample"], y = "", height = 150, label, bare = false }) {
  // As wide as its place, so that its words are as large as others.
  const width = Math.min(900, Math.max(320, document.body.clientWidth - 66)), left = 58, right = 8, top = 8, bottom = 34;
  const all = lines.flatMap(({ values }) => values.filter(Number.isFinite));
  let low = Math.min(...minMax(all)), high = Math.max(...minMax(all));
  if (low === high) [low, high] = [low - 1, high + 1];
  const length = Math.max(...lines.map(({ values }) => values.length), 2);
  const across = (i) => left + ((width - left - right) * i) / (length - 1);
  const up = (value) => top + ((height - top - bottom) * (high - value)) / (high - low);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label ?? y, class: "chart" });
  for (const { from, to, colour: fill, title, onclick, opacity = 0.18 } of marks) {
    const band = svg("rect", { x: across(from), y: top, width: Math.max(1, across(Math.min(to, length - 1)) - across(from)),
      height: height - top - bottom, fill, "fill-opacity": opacity });
    if (title) band.append(svg("title", {}, title));
    if (onclick) clickable(band, onclick);
    chart.append(band);
  }
  for (const value of bare ? [] : ticks(low, high, 3)) {
    chart.append(svg("line", { x1: left, x2: width - right, y1: up(value), y2: up(value), class: "grid" }),
      svg("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, number(value)));
  }
  const [first, step, unit] = x;
  for (const value of ticks(first, first + step * (length - 1), width / 100)) {
    chart.append(svg("text", { x: across((value - first) / step), y: height - 18, "text-anchor": "middle" }, number(value)));
  }
  chart.append(svg("text", { x: (width + left) / 2, y: height - 4, "text-anchor": "middle", class: "unit" }, unit));
  if (y) chart.append(svg("text", { x: 12, y: (height - bottom) / 2, class: "unit", transform: `rotate(-90 12 ${(height - bottom) / 2})`, "text-anchor": "middle" }, y));
  for (const { values, colour: stroke } of lines) {
    let path = "", pen = "M";
    // A gap where a sample is missing.
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) { pen = "M"; return; }
      path += `${pen}${across(i).toFixed(1)} ${up(value).toFixed(1)}`;
      pen = "L";
    });
    chart.append(svg("path", { d: path, stroke, fill: "none", "stroke-width": 1.4, "pointer-events": "none" }));
  }
  return chart;
}

/// Makes an element one that a click, or the Enter key, acts on.
function clickable(one, act) {
  one.addEventListener("click", act);
  one.addEventListener("keydown", (event) => event.key === "Enter" && act(event));
  one.setAttribute("tabindex", "0");
  one.setAttribute("role", "button");
  one.classList.add("clickable");
  return one;
}

function minMax(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return Number.isFinite(low) ? [low, high] : [0, 1];
}

function legend(names, colours = names.map((_, index) => colour(index))) {
  return element("p", { class: "legend" }, ...names.map((name, index) => {
    const key = svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
      svg("rect", { width: 14, height: 14, rx: 3, fill: colours[index] }));
    return element("span", {}, key, ` ${name}`);
  }));
}

function table(heads, rows) {
  const cell = (name) => (value) => (value instanceof Node ? value : element(name, {}, value));
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, ...heads.map(cell("th")))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell("td")))))));
}

/// Curves over two shares from 0 to 1. `curves`: [{ points: [[x, y]], colour, dots }]; `x`, `y`: what the axes are; `mark`: an x.
function shareChart({ curves, x, y, label, mark }) {
  const size = 300, left = 46, bottom = 40, top = 8, right = 12;
  const across = (value) => left + (size - left - right) * value, up = (value) => top + (size - top - bottom) * (1 - value);
  const chart = svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, class: "chart square" });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    chart.append(svg("line", { x1: across(0), x2: across(1), y1: up(value), y2: up(value), class: "grid" }),
      svg("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, String(value)),
      svg("text", { x: across(value), y: size - bottom + 16, "text-anchor": "middle" }, String(value)));
  }
  chart.append(svg("text", { x: across(0.5), y: size - 6, "text-anchor": "middle", class: "unit" }, x),
    svg("text", { x: 12, y: up(0.5), class: "unit", transform: `rotate(-90 12 ${up(0.5)})`, "text-anchor": "middle" }, y));
  if (mark !== undefined) chart.append(svg("line", { x1: across(mark), x2: across(mark), y1: up(0), y2: up(1), class: "mark" }));
  for (const { points, colour: stroke, dots, dashed } of curves) {
    const path = points.map(([a, b], i) => `${i === 0 ? "M" : "L"}${across(a).toFixed(1)} ${up(b).toFixed(1)}`).join("");
    chart.append(svg("path", { d: path, stroke, fill: "none", "stroke-width": dashed ? 1 : 1.8, ...(dashed ? { "stroke-dasharray": "4 4" } : {}) }));
    for (const [a, b, title] of dots ? points : []) {
      const dot = svg("circle", { cx: across(a), cy: up(b), r: 4, fill: stroke });
      dot.append(svg("title", {}, title ?? ""));
      chart.append(dot);
    }
  }
  return chart;
}

/// The states of a model on a circle, with an arrow for each transition: the wider, the likelier.
function stateChart(transition, label) {
  const size = 230, centre = size / 2, ring = 72, radius = 15, count = transition.length;
  const chart = svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, class: "chart square" });
  const place = (i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2, far = count > 1 ? ring : 0;
    return [centre + far * Math.cos(angle), centre + far * Math.sin(angle), angle];
  };
  const arrow = (d, share, title) => {
    const path = svg("path", { d, fill: "none", stroke: "currentColor", "stroke-width": (0.5 + 5 * share).toFixed(2), "stroke-opacity": (0.25 + 0.6 * share).toFixed(2) });
    path.append(svg("title", {}, title));
    chart.append(path);
  };
  for (let i = 0; i < count; i++) {
    const [x, y, angle] = place(i);
    for (let j = 0; j < count; j++) {
      const share = transition[i][j], title = `${i + 1} to ${j + 1}: ${number(100 * share)} %`;
      // Of a hundredth there is nothing to see.
      if (share < 0.01) continue;
      if (i === j) {
        const [ox, oy] = [x + 24 * Math.cos(angle), y + 24 * Math.sin(angle)];
        arrow(`M${ox - 11} ${oy}a11 11 0 1 0 22 0a11 11 0 1 0 -22 0`, share, title);
        continue;
      }
      const [u, v] = place(j), [dx, dy] = [u - x, v - y], length = Math.hypot(dx, dy), side = 14;
      const [a, b] = [dx / length, dy / length];
      const [fx, fy, tx, ty] = [x + radius * a - 4 * b, y + radius * b + 4 * a, u - (radius + 3) * a - 4 * b, v - (radius + 3) * b + 4 * a];
      arrow(`M${fx} ${fy}Q${(fx + tx) / 2 - side * b} ${(fy + ty) / 2 + side * a} ${tx} ${ty}`, share, title);
      chart.append(svg("path", { d: `M${tx} ${ty}l${-7 * a - 4 * b} ${-7 * b + 4 * a}l${8 * b} ${-8 * a}z`, fill: "currentColor", "fill-opacity": (0.25 + 0.6 * share).toFixed(2) }));
    }
  }
  for (let i = 0; i < count; i++) {
    const [x, y] = place(i);
    chart.append(svg("circle", { cx: x, cy: y, r: radius, class: "state" }),
      svg("text", { x, y: y + 4, "text-anchor": "middle", class: "name" }, String(i + 1)));
  }
  return chart;
}
