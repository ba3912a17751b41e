import type { Ledger } from "./types";

/** Where the server is. */
export const BASE: string = "/api";

export interface Fetcher {
  (id: string): Promise<Ledger>;
}

export async function fetchLedger(id: string): Promise<Ledger> {
  const answer = await fetch(`${BASE}/${id}`);
  return answer.json();
}

export enum State { Open, Closed }
