// Made of the Rust types by `WRITE_SHAPES=1 cargo test -p tacho-report shapes`.
export type * from "./run";
export type * from "./summary";
export type * from "./tuning";
export type * from "./page";
