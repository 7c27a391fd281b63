"use strict";
// Small linear programs by the dual simplex method: the least cost · x where every row of
// a table has row · x >= least, and each x is between two numbers. No cost is below 0, so
// that "all x at their lowest" has the right signs to start from, whatever the rows ask;
// and the answer to a program is a start for the same program with other bounds.
const miptreeSimplex = (() => {
  const TINY = 1e-11, OFF = 1e-9, NONE = 1e-13, MOST_PIVOTS = 400;

  // The slack of row k is variable n + k; at first all of them are basic:
  // basic = rest + table · (the others), cost = gain · (the others) + paid.
  function begin(cost, rows, least) {
    const n = cost.length;
    return {
      n, paid: 0, gain: cost.slice(),
      table: rows.map((row) => row.slice()), rest: least.map((x) => -x),
      others: cost.map((_, j) => j), basic: rows.map((_, k) => n + k),
      isTop: cost.map(() => false), // which of the others are as high as they can be
    };
  }

  function copy(state) {
    return {
      ...state, gain: state.gain.slice(), table: state.table.map((row) => row.slice()),
      rest: state.rest.slice(), others: state.others.slice(), basic: state.basic.slice(),
      isTop: state.isTop.slice(),
    };
  }

  // Returns { state, x, cost }; x is null where nothing keeps the rows, and undefined
  // where the method was given up.
  function solve(from, lower, upper) {
    const state = copy(from), { n, table, rest, others, basic, isTop } = state;
    for (let turn = 0; turn < MOST_PIVOTS; turn++) {
      const at = others.map((v, j) => (v >= n ? 0 : isTop[j] ? upper[v] : lower[v]));
      let row = -1, worst = OFF, rises = true;
      const now = rest.map((x, k) => table[k].reduce((sum, a, j) => sum + a * at[j], x));
      now.forEach((x, k) => {
        const v = basic[k], low = v >= n ? 0 : lower[v], high = v >= n ? Infinity : upper[v];
        if (low - x > worst) [row, worst, rises] = [k, low - x, true];
        if (x - high > worst) [row, worst, rises] = [k, x - high, false];
      });
      if (row < 0) return answer(state, at, now);
      const j = entering(state, row, rises, lower, upper);
      if (j < 0) return { state, x: null, cost: Infinity };
      pivot(state, row, j);
      isTop[j] = !rises;
    }
    return { state, x: undefined, cost: -Infinity };
  }

  // The variable that moves a row to its bound, and keeps the signs of all gains.
  function entering(state, row, rises, lower, upper) {
    const { n, table, others, gain, isTop } = state;
    let best = -1, least = Infinity;
    others.forEach((v, j) => {
      if (v < n && lower[v] === upper[v]) return;
      const a = rises ? table[row][j] : -table[row][j];
      if (isTop[j] ? a > -TINY : a < TINY) return;
      const ratio = Math.abs(gain[j] / a);
      const isBetter = ratio < least - TINY ||
        (ratio <= least + TINY && Math.abs(a) > Math.abs(table[row][best]));
      if (best < 0 || isBetter) [best, least] = [j, Math.min(least, ratio)];
    });
    return best;
  }

  function pivot(state, row, j) {
    const { table, rest, others, basic, gain } = state;
    const a = table[row][j], line = table[row].map((x, k) => (k === j ? 1 : -x) / a);
    const constant = -rest[row] / a;
    const put = (target, x) => {
      target.forEach((old, k) => { target[k] = (k === j ? 0 : old) + x * line[k]; });
    };
    table.forEach((other, k) => {
      if (k === row) return;
      const x = other[j];
      rest[k] += x * constant;
      put(other, x);
    });
    state.paid += gain[j] * constant;
    put(gain, gain[j]);
    gain.forEach((g, k) => { if (Math.abs(g) < NONE) gain[k] = 0; }); // left by rounding
    table[row] = line;
    rest[row] = constant;
    [others[j], basic[row]] = [basic[row], others[j]];
  }

  function answer(state, at, now) {
    const x = new Array(state.n).fill(0);
    const put = (v, value) => { if (v < state.n) x[v] = value; };
    state.others.forEach((v, j) => put(v, at[j]));
    state.basic.forEach((v, k) => put(v, now[k]));
    const cost = state.gain.reduce((sum, g, j) => sum + g * at[j], state.paid);
    return { state, x, cost };
  }

  return { begin, solve };
})();
