// Columns of the page, written by hand: seven bits a byte, as the specification of varints has it.

export const text = (...bytes: number[]): string => btoa(String.fromCharCode(...bytes));

const twice = (number: number): bigint => (number < 0 ? -2n * BigInt(number) - 1n : 2n * BigInt(number));

function varints(numbers: bigint[]): string {
  return text(
    ...numbers.flatMap((number) => {
      let left = number;
      const bytes: number[] = [];
      for (; left >= 128n; left /= 128n) bytes.push(Number(left % 128n) + 128);
      return [...bytes, Number(left)];
    }),
  );
}

export const column = (...numbers: number[]): string => varints(numbers.map(twice));
export const differences = (...numbers: number[]): string =>
  column(...numbers.map((n, i) => n - (numbers[i - 1] ?? 0)));
export const maybe = (...numbers: (number | undefined)[]): string =>
  varints(numbers.map((n) => (n === undefined ? 0n : twice(n) + 1n)));
