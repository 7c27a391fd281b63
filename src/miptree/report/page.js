"use strict";
(() => {
  const facts = JSON.parse(document.getElementById("facts").textContent);
  const nodes = new Map(facts.nodes.map((node) => [node.id, node]));
  const isLeaf = (node) => node.label !== undefined;
  const colour = (k) => `var(--c${k % 8})`;
  const parent = new Map();
  for (const node of facts.nodes) {
    if (!isLeaf(node)) [node.left, node.right].forEach((c) => parent.set(c, node.id));
  }

  // ---------------------------------------------------------------- elements
  // Text is only ever set as text: nothing of the user's becomes markup.
  function make(space, tag, attributes, ...children) {
    const element = space
      ? document.createElementNS(space, tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      element.setAttribute(name, value);
    }
    element.append(...children.map((c) => (c instanceof Node ? c : String(c))));
    return element;
  }
  const el = (tag, attributes, ...children) => make(null, tag, attributes, ...children);
  const svg = (tag, attributes, ...children) =>
    make("http://www.w3.org/2000/svg", tag, attributes, ...children);
  const at = (id) => document.getElementById(id);
  // 0 and 100 % are exact.
  function percent(share) {
    if (share > 0 && share < 0.001) return "< 0.1 %";
    return share > 0.999 && share < 1 ? "> 99.9 %" : `${(100 * share).toFixed(1)} %`;
  }
  const count = (n) => n.toLocaleString("en");
  const total = (counts) => counts.reduce((a, b) => a + b, 0);
  // A bound, rounded down: no more is said than is proved. One that is met is the value.
  function least(bound, value) {
    if (bound <= 0 || value - bound <= 1e-6 * value) return short(bound);
    const last = 10 ** (Math.floor(Math.log10(bound)) - 3);
    return short(last * Math.floor((bound / last) * (1 + 2e-9)));
  }
  const cut = (text, n) => (text.length > n ? text.slice(0, n - 1) + "…" : text);
  const short = (x) => String(Number(x.toPrecision(4)));
  function dot(k) {
    const mark = el("span", { class: "dot" });
    mark.style.background = colour(k);
    return mark;
  }

  // -------------------------------------------------------------- predicting
  // A row maps a column's id to a number, a text, or null where it is missing.
  const missing = (value) => value === null || value === undefined || value !== value;

  function refusal(row) {
    for (const column of facts.columns) {
      const value = row[column.id];
      const name = column.name;
      if (missing(value)) {
        if (facts.refuses.missing) return `${name} is missing`;
      } else if (column.kind === "number" && !Number.isFinite(value)) {
        return `${name} is not a finite number`;
      } else if (column.kind === "category" && facts.refuses.unknown) {
        if (!column.values.includes(value)) return `${name} has an unknown value`;
      }
    }
    return null;
  }

  function cell(term, row) {
    const value = row[term.column];
    if (term.kind === "missing") return missing(value) ? 1 : 0;
    if (term.kind === "member") {
      return (missing(value) ? term.gap : term.values.includes(value)) ? 1 : 0;
    }
    if (term.kind === "steps") {
      return missing(value) ? term.gap : term.cuts.filter((c) => c <= value).length;
    }
    return missing(value) ? term.fill : value;
  }

  // The sum in the order of the terms, in float64: as in Python, to the last bit.
  function score(node, row) {
    let sum = 0;
    for (const term of node.terms) sum += term.coef * cell(term, row);
    return sum;
  }

  function path(row) {
    const passed = [nodes.get(0)];
    let node = passed[0];
    while (!isLeaf(node)) {
      node = nodes.get(score(node, row) <= node.threshold ? node.left : node.right);
      passed.push(node);
    }
    return passed;
  }

  // Near a split a row counts to both sides in part; its leaf's class stays first.
  function probabilities(row, leaf) {
    const mixed = reached(nodes.get(0), row), own = leaf.label;
    const first = (list) => list.indexOf(Math.max(...list));
    if (first(leaf.proba) === own) {
      const others = mixed.filter((_, k) => k !== own);
      mixed[own] = Math.max(mixed[own], (1 + 1e-6) * Math.max(...others));
    }
    const total = mixed.reduce((sum, value) => sum + value, 0);
    return mixed.map((value) => value / total);
  }

  function reached(node, row) {
    if (isLeaf(node)) return node.proba.slice();
    const far = score(node, row) - node.threshold;
    if (!node.blur) return reached(nodes.get(far <= 0 ? node.left : node.right), row);
    const right = reached(nodes.get(node.right), row);
    const part = 1 / (1 + Math.exp(-far / node.blur));
    return reached(nodes.get(node.left), row)
      .map((value, k) => (1 - part) * value + part * right[k]);
  }

  function predict(row) {
    const why = refusal(row);
    if (why !== null) return { refused: why };
    const passed = path(row);
    const leaf = passed[passed.length - 1];
    const proba = probabilities(row, leaf);
    return { label: facts.classes[leaf.label], leaf: leaf.id, passed, proba };
  }
  const form = miptreeForm({ facts, cell, path });
  const { nearestChange } = miptreeChange({ facts, nodes, cell, path, predict });
  window.miptree = { predict, reasons: form.reasons, nearestChange };

  // ------------------------------------------------------------------- tree
  const WIDE = 172, HIGH = 92, GAP = 16, LEVEL = 142, ROOM = WIDE - 14;
  const ASIDE = WIDE + 62, DOWN = HIGH + 14; // steps where the root is at the left
  const MOST_BARS = 12; // coefficients of a split that are drawn
  const MOST_ABREAST = 6; // leaves of a tree whose root is at the top
  const LEAST_SCALE = 0.72; // what does not fit then is scrolled
  const isAside = facts.nodes.filter(isLeaf).length > MOST_ABREAST;

  const SIDES = isAside ? ["up", "down"] : ["left", "right"];

  // The middle of the upper edge of each node, and the size of the picture.
  function places() {
    const place = new Map();
    let next = 0;
    (function put(id) {
      const node = nodes.get(id);
      const order = isLeaf(node) ? next++ : (put(node.left) + put(node.right)) / 2;
      place.set(id, isAside
        ? [node.depth * ASIDE + WIDE / 2 + 4, order * DOWN + 4]
        : [order * (WIDE + GAP) + WIDE / 2 + 4, node.depth * LEVEL + 4]);
      return order;
    })(0);
    const all = [...place.values()];
    const end = (k) => Math.max(...all.map((at_) => at_[k]));
    return [place, end(0) + WIDE / 2 + 4, end(1) + HIGH + 4];
  }

  const drawn = new Map(), edges = new Map();

  function drawTree() {
    const [place, width, height] = places();
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "decision tree",
    });
    picture.style.maxWidth = `${width}px`;
    picture.style.minWidth = `${Math.round(LEAST_SCALE * width)}px`;
    for (const [child, above] of parent) {
      const left = nodes.get(above).left === child;
      const line = svg("path", { class: "edge",
        d: curve(place.get(above), place.get(child)) });
      edges.set(child, line);
      picture.append(line, answerAt(place.get(child), left, nodes.get(above)));
    }
    const panel = at("tree");
    panel.append(picture); // before the nodes: only what is shown has a width
    picture.append(ruler);
    for (const node of facts.nodes) picture.append(drawNode(node, place.get(node.id)));
    ruler.remove();
    const leaves = facts.nodes.filter(isLeaf).length;
    panel.parentElement.classList.toggle("wide", leaves > 3);
    const hidden = panel.scrollWidth - panel.clientWidth;
    at("tree-is-wide").hidden = hidden <= 0;
    panel.scrollLeft = isAside ? 0 : hidden / 2;
  }

  function curve([x0, y0], [x1, y1]) {
    if (!isAside) {
      return `M${x0} ${y0 + HIGH} C${x0} ${y1 - 22} ${x1} ${y0 + HIGH + 22} ${x1} ${y1}`;
    }
    const start = x0 + WIDE / 2, end = x1 - WIDE / 2, [h0, h1] = [y0 + HIGH / 2, y1 + HIGH / 2];
    return `M${start} ${h0} C${start + 22} ${h0} ${end - 40} ${h1} ${end} ${h1}`;
  }

  function answerAt([x, y], left, above) {
    const place = isAside
      ? { x: x - WIDE / 2 - 5, y: y + HIGH / 2 + (left ? -6 : 14), "text-anchor": "end" }
      : { x: x + (left ? -8 : 8), y: y - 8, "text-anchor": left ? "end" : "start" };
    return svg("text", { class: "soft", ...place }, above.answers[left ? 0 : 1]);
  }

  // What is said of the rows of a leaf: how many, and whether they are of one class.
  function purity(node) {
    const all = total(node.counts), own = node.counts[node.label];
    if (!all) return "no rows";
    const rows = `${count(all)} ${all === 1 ? "row" : "rows"}`;
    return own === all ? `${rows}, pure` : `${rows}, ${percent(own / all)}`;
  }

  function drawNode(node, [x, y]) {
    const name = isLeaf(node) ? `leaf: ${facts.classes[node.label]}` : node.text;
    const group = svg("g", {
      class: "node", tabindex: "0", role: "button", "data-node": node.id,
      "aria-label": `node ${node.id}, ${name}, ${total(node.counts)} rows`,
    });
    const left = x - WIDE / 2;
    const line = (text, down, more) => group.append(svg("text", {
      x, y: y + down, "text-anchor": "middle", ...more,
    }, text));
    group.append(svg("rect", {
      class: "box", x: left, y, width: WIDE, height: HIGH, rx: 9,
    }));
    if (isLeaf(node)) {
      line(fitted(facts.classes[node.label]), 22, { "font-weight": "600" });
      group.lastChild.style.fill = colour(node.label);
      line(`leaf ${node.id}`, 42, { class: "soft" });
      line(fitted(purity(node)), 83, { class: "soft" });
    } else {
      shortened(node).forEach((text, k) => line(text, 17 + 15 * k, {}));
      line(`node ${node.id}, ${count(total(node.counts))} rows`, 83, { class: "soft" });
    }
    stripe(group, node.counts, left + 10, y + 59, WIDE - 20, 9);
    group.addEventListener("click", () => choose(node.id));
    group.addEventListener("keydown", (event) => onKey(event, node));
    drawn.set(node.id, group);
    return group;
  }

  // The whole split where it fits, else its weightiest terms, which come first.
  function shortened(node) {
    const whole = wrap(node.text, 3), terms = node.terms_shown || [];
    if (terms.length < 3 || !whole[whole.length - 1].endsWith("…")) return whole;
    return [fitted(terms[0]), fitted(terms[1]), `and ${terms.length - 2} more`];
  }

  // The bold letters of leaves are the widest: what fits in them fits in any.
  const ruler = svg("text", { "font-weight": "600", visibility: "hidden" });

  function fits(text) {
    ruler.textContent = text;
    return ruler.getComputedTextLength() <= ROOM;
  }

  function fitted(text) {
    if (fits(text)) return text;
    const letters = Array.from(text);
    let low = 0, high = letters.length; // so many letters fit, so many do not
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (fits(letters.slice(0, middle).join("") + "…")) low = middle;
      else high = middle;
    }
    return letters.slice(0, low).join("") + "…";
  }

  function wrap(text, most) {
    const lines = [];
    let rest = text.split(" ");
    while (rest.length && lines.length < most) {
      let n = 1;
      while (n < rest.length && fits(rest.slice(0, n + 1).join(" "))) n++;
      const line = rest.slice(0, n).join(" ");
      rest = rest.slice(n);
      const isCut = lines.length + 1 === most && rest.length;
      lines.push(fitted(isCut ? `${line} ${rest.join(" ")}` : line));
    }
    return lines;
  }

  function stripe(group, counts, x, y, width, height) {
    const all = total(counts) || 1;
    counts.forEach((n, k) => {
      const part = (width * n) / all;
      const bar = svg("rect", { x, y, width: part, height });
      bar.style.fill = colour(k);
      group.append(bar);
      x += part;
    });
  }

  function onKey(event, node) {
    const to = {
      ArrowUp: parent.get(node.id), ArrowDown: node.left,
      ArrowLeft: node.left, ArrowRight: node.right,
    }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(node.id);
    else if (to !== undefined) drawn.get(to).focus();
    else return;
    event.preventDefault();
  }

  // ----------------------------------------------------------------- detail
  function choose(id) {
    for (const [other, group] of drawn) group.classList.toggle("chosen", other === id);
    const node = nodes.get(id);
    at("detail").replaceChildren(...(isLeaf(node) ? leafDetail(node) : splitDetail(node)));
  }

  const SMOOTHED = "Probabilities are those that predict_proba gives a row inside the leaf: " +
    "its share of the training rows, drawn towards that of all rows, the more so the fewer " +
    "rows the leaf has.";

  function splitDetail(node) {
    const found = [el("h3", {}, `Node ${node.id}`), el("p", { class: "rule" }, node.text)];
    if (node.parts && node.parts.length) {
      found.push(el("ul", {}, ...node.parts.map((part) =>
        el("li", {}, `${part.name}: ${part.points}`))));
      found.push(el("p", { class: "hint" }, "Rows with " +
        `${node.answers[0]} points go ${SIDES[0]}, with ${node.answers[1]} ${SIDES[1]}.`));
    } else {
      found.push(el("p", { class: "hint" },
        `Rows for which this holds go ${SIDES[0]} (yes), all others ${SIDES[1]} (no).`));
    }
    if (node.bars.length) {
      found.push(el("h3", {}, "Coefficients times spread of their columns"));
      found.push(bars(node.bars));
    }
    if (node.histogram) {
      const what = node.parts ? "Points" : "Sums";
      found.push(el("h3", {}, `${what} of the rows that come here`), histogram(node));
    }
    found.push(el("h3", {}, "Who goes where"), whoGoesWhere(node));
    return found;
  }

  function bars(all) {
    const largest = Math.max(...all.map((bar) => Math.abs(bar.size))) || 1;
    const rest = all.length - MOST_BARS, terms = rest > 1 ? "terms" : "term";
    return el("div", { class: "bars" }, ...all.slice(0, MOST_BARS).map((bar) => {
      const length = (48 * Math.abs(bar.size)) / largest;
      const mark = svg("rect", {
        x: bar.size < 0 ? 50 - length : 50, y: 2, width: length, height: 10,
      });
      mark.style.fill = bar.size < 0 ? "var(--less)" : "var(--good)";
      return el("div", { class: "bar" },
        el("span", {}, bar.name),
        svg("svg", { viewBox: "0 0 100 14", preserveAspectRatio: "none",
          "aria-hidden": "true" }, mark),
        el("span", {}, bar.coef));
    }), ...(rest > 0 ? [el("p", { class: "hint" }, `and ${rest} more ${terms}`)] : []));
  }

  function histogram(node) {
    const { edges: ends, counts, margin, named } = node.histogram;
    const width = 320, height = 120, low = ends[0], high = ends[ends.length - 1];
    const x = (value) => (width * (value - low)) / (high - low);
    const sums = ends.slice(1).map((_, b) => total(counts.map((row) => row[b])));
    const top = Math.max(1, ...sums);
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height + 18}`, width: "100%", role: "img",
      "aria-label": "histogram of scores by class, left of the line goes left",
    });
    const band = svg("rect", {
      x: x(-margin), y: 0, width: x(margin) - x(-margin), height,
    });
    band.style.fill = "var(--line)";
    band.style.opacity = "0.5";
    picture.append(band);
    sums.forEach((_, b) => {
      let y = height;
      counts.forEach((row, k) => {
        const part = (height * row[b]) / top;
        y -= part;
        const bar = svg("rect", {
          x: x(ends[b]), y, width: Math.max(0.5, x(ends[b + 1]) - x(ends[b]) - 0.6),
          height: part,
        });
        bar.style.fill = colour(k);
        picture.append(bar);
      });
    });
    const line = svg("path", { d: `M${x(0)} 0 V${height}`, "stroke-width": 1.5 });
    line.style.stroke = "var(--ink)";
    picture.append(line,
      svg("text", { class: "soft", x: 0, y: height + 14 },
        `${named[0]} ← ${node.answers[0]}`),
      svg("text", { class: "soft", x: width, y: height + 14, "text-anchor": "end" },
        `${node.answers[1]} → ${named[1]}`));
    return picture;
  }

  function table(head, rows, names) {
    const line = (cells, tag) => el("tr", {}, ...cells.map((cell_, k) =>
      el(k ? tag : "th", k ? { class: "n" } : { scope: "row" }, cell_)));
    const body = el("tbody", {}, ...rows.map((cells) => line(cells, "td")));
    const top = el("tr", {}, ...head.map((cell_, k) =>
      el("th", k ? { class: "n", scope: "col" } : { scope: "col" }, cell_)));
    if (names) body.childNodes.forEach((row, k) => row.firstChild.prepend(dot(k)));
    return [el("thead", {}, top), body];
  }

  function whoGoesWhere(node) {
    const left = nodes.get(node.left).counts, right = nodes.get(node.right).counts;
    const rows = facts.classes.map((name, k) => [name, count(left[k]), count(right[k])]);
    return el("table", {}, ...table(["class", ...node.answers], rows, true));
  }

  function leafDetail(node) {
    const steps = [];
    for (let id = node.id; parent.has(id); id = parent.get(id)) {
      const above = nodes.get(parent.get(id));
      steps.unshift(el("li", {},
        el("b", {}, `${above.answers[above.left === id ? 0 : 1]}: `),
        el("span", { class: "rule" }, above.text)));
    }
    const all = total(node.counts);
    const right = all ? percent(node.counts[node.label] / all) : "no rows";
    const isPure = all && node.counts[node.label] === all ? " The leaf is pure." : "";
    const rows = facts.classes.map((name, k) => [name, count(node.counts[k]),
      all ? percent(node.counts[k] / all) : "", percent(node.proba[k])]);
    const head = ["class", "rows", "share", "probability"];
    const found = [
      el("h3", {}, `Leaf ${node.id}: ${facts.classes[node.label]}`),
      el("p", {}, `${count(all)} rows, of which right: ${right}.${isPure}`),
      el("h3", {}, "Rule"), el("ol", {}, ...steps),
      el("table", {}, ...table(head, rows, true)),
      el("p", { class: "hint" }, SMOOTHED),
    ];
    if (node.examples.length) {
      const head = facts.columns.map((column) => cut(column.name, 24));
      found.push(el("h3", {}, "Some of its rows"),
        el("div", { class: "scroll" },
          el("table", {}, ...table(head, node.examples, false))));
    }
    return found;
  }

  // -------------------------------------------------------------- scorecard
  // Boxes to fill in with a pencil: a clerk marks a range and adds up its points.
  function drawScorecard() {
    const card = facts.scorecard;
    if (!card || !card.steps.length) return;
    at("steps").append(...card.steps.map(drawStep));
    at("card-notes").textContent = card.notes.join(" ");
    at("adding").hidden = card.steps.every((step) => !step.parts.length);
    at("scorecard").hidden = false;
    const only = document.body.classList;
    at("print-card").addEventListener("click", () => {
      only.add("card-only");
      window.print();
    });
    window.addEventListener("afterprint", () => only.remove("card-only"));
  }

  const box = (kind) => el("span", { class: `box ${kind}`, "aria-hidden": "true" });

  function drawStep(step) {
    const isSum = step.parts.length > 0;
    const found = el("div", { class: "step" },
      el("h3", {}, `STEP ${step.number}`), el("p", { class: "asks" }, step.asks));
    for (const part of step.parts) {
      const cells = part.cells.map(([range, points]) => el("span", { class: "cell" },
        el("span", {}, range), el("b", {}, points)));
      found.append(el("div", { class: "part" },
        el("div", {}, el("b", {}, part.name), ` ${part.points}`,
          ...(cells.length ? [el("div", { class: "cells" }, ...cells)] : [])),
        box("points")));
    }
    if (isSum) {
      found.append(el("div", { class: "part sum" }, el("div", {}, "sum of points"),
        box("points")));
    }
    found.append(el("ul", { class: "answers" }, ...step.answers.map(([answer, goal]) =>
      el("li", {}, box("tick"), el("b", {}, answer), ` → ${goal}`))));
    return found;
  }

  // ------------------------------------------------------------- other trees
  function drawOthers() {
    const others = facts.others;
    if (!others) return;
    const [head, ...rows] = others.table;
    at("others-note").textContent = others.note;
    if (rows.length) at("others-table").append(...table(head, rows, false));
    at("needs").append(...others.needs.map((sentence) => el("li", {}, sentence)));
    at("others").hidden = false;
  }

  // ------------------------------------------------------------------ rules
  function drawRules() {
    const rules = facts.rules;
    if (!rules) return;
    const given = facts.are_fitted ? "training rows" : "rows given";
    const head = ["rate", given].concat(rules.tested ? ["test rows"] : []);
    rules.rules.forEach((rule, k) => {
      const found = el("div", { class: "kept-rule" }, el("p", {}, `${k + 1}. ${rule.asked}`));
      if (rule.rates.length) {
        const verdict = ["rule", ...rule.kept];
        found.append(el("div", { class: "scroll" },
          el("table", {}, ...table(head, [...rule.rates, verdict], false))));
      } else if (rules.tested && rule.kept.length > 1) {
        found.append(el("p", { class: "hint" }, `On the test rows: ${rule.kept[1]}.`));
      }
      at("rules-list").append(found);
    });
    at("rules-list").append(...rules.notes.map((n) => el("p", { class: "hint" }, n)));
    at("rules").hidden = false;
  }

  // ------------------------------------------------------------------- form
  function buildForm() {
    const fields = at("try");
    for (const column of facts.columns) {
      let field;
      if (column.kind === "number") {
        field = el("input", {
          type: "text", inputmode: "decimal", autocomplete: "off",
          placeholder: "missing",
        });
        field.value = column.typical === null ? "" : String(column.typical);
      } else {
        field = el("select", {}, ...column.shown.map((text, k) =>
          el("option", { value: k }, text)),
          el("option", { value: "missing" }, "(missing)"),
          el("option", { value: "other" }, "(another value)"));
        field.value = column.typical < 0 ? "missing" : String(column.typical);
      }
      field.setAttribute("data-column", column.id);
      const keep = el("input", { type: "checkbox", "data-keep": column.id });
      fields.append(el("div", { class: "field" },
        el("label", {}, column.name, field),
        el("label", { class: "keep" }, keep, "cannot change")));
    }
    if (!facts.columns.length) fields.append(el("p", {}, "The tree reads no column."));
    fields.addEventListener("input", answer);
    fields.addEventListener("submit", (event) => event.preventDefault());
  }

  // A row, or a text: why what is typed cannot be one.
  function typedRow() {
    const row = {};
    let why = null;
    for (const column of facts.columns) {
      const field = document.querySelector(`[data-column="${column.id}"]`);
      if (column.kind === "number") {
        const found = form.typed(column, field.value);
        field.setAttribute("aria-invalid", typeof found === "string");
        if (typeof found === "string") why = why || found;
        else row[column.id] = found;
      } else if (field.value === "missing") row[column.id] = null;
      else if (field.value === "other") row[column.id] = UNSEEN;
      else row[column.id] = column.values[Number(field.value)];
    }
    return why === null ? row : why;
  }
  const UNSEEN = Symbol("a value that training did not meet");

  function answer() {
    const row = typedRow();
    const found = typeof row === "string" ? { refused: row } : predict(row);
    const passed = new Set((found.passed || []).map((node) => node.id));
    for (const [id, group] of drawn) group.classList.toggle("passed", passed.has(id));
    for (const [id, line] of edges) line.classList.toggle("passed", passed.has(id));
    if (found.refused) {
      at("answer").replaceChildren(`No prediction: ${found.refused}.`);
      return;
    }
    const leaf = nodes.get(found.leaf);
    const why = form.reasons(row).map((reason) => el("li", {},
      el("span", { class: "rule" }, reason.rule), el("br"),
      el("span", { class: "hint" }, form.reasonWords(reason))));
    at("answer").replaceChildren(dot(leaf.label), "Predicted: ",
      el("b", { id: "prediction" }, found.label),
      ` (leaf ${leaf.id}, probability ${percent(found.proba[leaf.label])})`,
      ...(why.length ? [", because", el("ol", { id: "reasons" }, ...why)] : []),
      ...changeParts(row));
  }

  function changeParts(row) {
    const kept = [...document.querySelectorAll("[data-keep]:checked")]
      .map((box) => Number(box.getAttribute("data-keep")));
    const [said, parts] = form.changeWords(nearestChange(row, kept), kept.length > 0);
    return [el("p", { id: "change" }, said),
      ...(parts.length ? [el("ul", { id: "changes" }, ...parts.map((p) => el("li", {}, p)))]
        : [])];
  }

  // ---------------------------------------------------------------- figures
  function figures() {
    at("summary").textContent =
      `${count(facts.n_rows)} rows, ${facts.classes.length} classes, ` +
      `${facts.nodes.filter(isLeaf).length} leaves. The tree reads ` +
      `${facts.columns.length} of ${facts.n_columns} columns` +
      (facts.columns.length ? `: ${facts.columns.map((c) => c.name).join(", ")}.` : ".") +
      (facts.are_fitted ? "" : " These are not the rows that the tree was fitted on:" +
        " the certificate speaks of those, the counts of these.");
    at("legend").append(...facts.classes.map((name, k) => el("li", {}, dot(k), name)));
    at("certificate").append(el("tbody", {}, ...facts.certificate.map(([name, value]) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
    const tested = facts.accuracy[0].shares.length > 1;
    const given = facts.are_fitted ? "training rows" : "rows given";
    const head = ["", given].concat(tested ? ["test rows"] : []);
    at("accuracy").append(...table(head,
      facts.accuracy.map((row) => [row.name, ...row.shares.map(percent)]), false));
    at("accuracy").querySelector("tbody tr").classList.add("mine");
    let note = "On the rows of the fit: no promise for new rows. Give test rows to compare.";
    if (tested) note = "All three were fitted on the training rows.";
    if (!facts.are_fitted) {
      note = "The other models were fitted on the rows given, this tree on others.";
    }
    at("accuracy-note").textContent = note;
    const counted = [[given, facts.confusion]];
    if (facts.test_confusion) counted.push(["test rows", facts.test_confusion]);
    at("matrices").style.setProperty("--classes", facts.classes.length);
    at("matrices").append(...counted.flatMap(([rows, confusion]) => [
      el("h3", {}, `True class by predicted class: ${rows}`),
      el("div", { class: "scroll" }, el("table", { class: "confusion" },
        ...table(["true \\ predicted", ...facts.classes], confusion.map((row, k) =>
          [facts.classes[k], ...row.map(count)]), true))),
    ]));
    const blurs = facts.nodes.some((node) => node.blur);
    at("probability-note").textContent = "A probability is the share of the class in the " +
      "leaf's training rows, drawn towards that of all rows" +
      (blurs ? "; near a split the leaf on its other side counts as well." : ".");
    at("footer").textContent = `Written by miptree ${facts.version}.`;
  }

  function drawTrace() {
    const states = facts.trace;
    if (states.length < 2) {
      at("trace").parentElement.hidden = true;
      return;
    }
    const width = 480, height = 170, room = 44;
    const start = states[0][0], end = states[states.length - 1][0];
    const top = Math.max(...states.map((state) => state[1])) || 1;
    const x = (s) => room + ((width - room - 8) * (s - start)) / (end - start || 1);
    const y = (v) => 8 + (height - 16) * (1 - v / top);
    const seconds = (s) => `${short(Number(s.toFixed(2)))} s`;
    const line = (which, shade) => {
      let d = "";
      states.forEach((state, k) => {
        d += k ? ` H${x(state[0])} V${y(state[which])}`
          : `M${x(state[0])} ${y(state[which])}`;
      });
      const drawnLine = svg("path", { d, fill: "none", "stroke-width": 2 });
      drawnLine.style.stroke = shade;
      return drawnLine;
    };
    const last = states[states.length - 1], bound = least(last[2], last[1]);
    at("trace").append(svg("svg", {
      viewBox: `0 0 ${width} ${height + 22}`, width: "100%", role: "img",
      "aria-label": `objective ${short(last[1])} and bound ${bound} at the end`,
    }, line(2, "var(--c0)"), line(1, "var(--c1)"),
    svg("text", { class: "soft", x: room - 6, y: y(top) + 8, "text-anchor": "end" },
      short(top)),
    svg("text", { class: "soft", x: room - 6, y: y(0), "text-anchor": "end" }, "0"),
    svg("text", { class: "soft", x: room, y: height + 16 }, seconds(start)),
    svg("text", { class: "soft", x: width - 8, y: height + 16, "text-anchor": "end" },
      seconds(end))),
    el("ul", { class: "legend" },
      el("li", {}, dot(1), `best tree: objective ${short(last[1])}`),
      el("li", {}, dot(0), `no tree is below ${bound}`)));
  }

  figures();
  drawTree();
  drawScorecard();
  drawOthers();
  drawRules();
  buildForm();
  drawTrace();
  choose(0);
  answer();
  document.documentElement.setAttribute("data-ready", "yes");
})();
