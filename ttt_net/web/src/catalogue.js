/** The games that have a name of their own, as the server lists them in index.html. */

const listed = /** @type {HTMLElement} */ (document.getElementById("catalogue"));

/** @type {{name: string, title: string, rule: string, shape: number[], swap: boolean, rated: boolean}[]} */
export const CATALOGUE = JSON.parse(listed.textContent ?? "[]");
