import { Sea } from "./sea";

/** A shape. */
export interface Shape<T> {
  area(): number;
  name: string;
}

export type Id = string | number;

export enum Tide {
  Low,
  High,
}

/** Overloads follow. */
export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any) {
  return a;
}

@Injectable({ providedIn: "root" })
export class Store<T> implements Shape<T> {
  private items: T[] = [];

  /** Makes a store. */
  constructor(private readonly sea: Sea) {}

  @Input()
  @Required("x")
  load(id: number): Promise<T> {
    return this.sea.get(id);
  }

  get size() { return 1; }

  public handler = (e: Event): void => {
    this.load(1);
  };
}

abstract class Base {
  abstract run(): void;
  stop(): void {
    return;
  }
}

export namespace Harbour {
  export function dock(ship: string): void {
    console.log(ship);
  }
}

declare module "sea" {
  export function wave(): void;
}

export const loadAll = async <T,>(ids: number[]): Promise<T[]> => {
  return [];
};

export default function main(): void {
  loadAll([]);
}
