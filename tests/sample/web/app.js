import { render } from "./view.js";
import * as api from "./api.js";

/** Shows a ledger. */
export class LedgerView {
  #sum = 0;
  get sum() { return this.#sum; }
  async load(id) {
    const ledger = await api.fetchLedger(id);
    return render(ledger);
  }
}

export const format = (n) => n.toFixed(2);
