//! Boards of a run: their memories, and their start by their own clocks, which an emulator's are not those of hardware.

use super::{figures, number, table, Terminal};
use table::{Column, Table};
use tacho_tables::summary::Point;

impl Terminal {
    pub(super) fn boards(&self, out: &mut String, point: &Point) {
        if point.boards.is_empty() {
            return;
        }
        let emulated = point.boards.iter().any(|board| board.emulated);
        let own = if emulated { "emulated ms: matched" } else { "own ms: matched" };
        let columns = ["board", "ROM B", "RAM B", own, "first message", "clock +- us"];
        let mut boards =
            Table::new(columns.map(|name| if name == "board" { Column::text(name) } else { Column::number(name) }));
        for board in &point.boards {
            let mut cells = vec![board.node.clone(), board.rom_bytes.to_string(), board.ram_bytes.to_string()];
            cells.extend(figures(board.own_clock_matched_ms.as_ref(), |d| [d.median], 1));
            cells.extend(figures(board.own_clock_first_message_ms.as_ref(), |d| [d.median], 1));
            cells.push(number(board.clock_error_us, 0));
            boards.row(cells);
        }
        out.push_str(&boards.render(self.width()));
        out.push('\n');
        if let Some(d) = &point.emulated_us {
            self.line(
                out,
                &format!(
                    "Messages from or to an emulated board took {:.0} us of emulated time (median; 99 % {:.0}): no \
                     latency of the hardware.",
                    d.median, d.p99
                ),
            );
        }
        for board in point.boards.iter().filter(|board| !board.counters.is_empty()) {
            let counts: Vec<String> = board.counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
            self.line(out, &format!("Board {} counted: {}.", board.node, counts.join(", ")));
        }
        self.line(out, &format!("Boards: {}; {}.", point.boards[0].machine, point.boards[0].network));
    }
}
