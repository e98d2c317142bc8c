//! The screen and the keys of `tacho top`; docs/top.md lists the keys.

use super::names::{fitted, Named};
use super::rows::{arrange, rows, shown, Kind, Row};
use super::source::Source;
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode, EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::crossterm::ExecutableCommand;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row as TableRow, Table, TableState};
use ratatui::{Frame, Terminal};
use std::io::{self, Stdout};
use std::time::Duration;
use tacho_figures::live::LiveFacts;
use tacho_printing::visible;
use tacho_tables::summary::Summary;

/// What a key asks of the loop that draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Nothing,
    ToEnd,
}

/// The terminal while `tacho top` draws on it.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    view: View,
}

impl Screen {
    pub fn open() -> io::Result<Screen> {
        enable_raw_mode()?;
        io::stdout().execute(EnterAlternateScreen)?;
        Ok(Screen { terminal: Terminal::new(CrosstermBackend::new(io::stdout()))?, view: View::default() })
    }

    pub fn paused(&self) -> bool {
        self.view.paused
    }

    pub fn shows_chains(&self) -> bool {
        self.view.kind == Kind::Chains
    }

    pub fn draw(&mut self, summary: &Summary, facts: &LiveFacts, source: &Source, ended: bool) -> io::Result<()> {
        let state = if ended { "ended" } else { "recording" };
        self.view.draw_on(&mut self.terminal, summary, facts, &visible(&format!("{}, {state}", source.title())))
    }

    /// Waits for keys, for at most this time. If the terminal is gone, it asks to end, because crossterm would read
    /// from it for ever.
    pub fn wait(&mut self, limit: Duration) -> io::Result<Asked> {
        // The second call has nothing left of what the first one read.
        for limit in [Duration::ZERO, limit] {
            if has_gone(limit) {
                return Ok(Asked::ToEnd);
            }
            if let Some(asked) = self.next_key()? {
                return Ok(asked);
            }
        }
        Ok(Asked::Nothing)
    }

    /// What the next key asks for, if there is one.
    fn next_key(&mut self) -> io::Result<Option<Asked>> {
        while event::poll(Duration::ZERO)? {
            if let Event::Key(key) = event::read()? {
                return Ok(Some(self.view.press(key)));
            }
        }
        Ok(None)
    }
}

/// Waits at most this time for a key, a signal, or the terminal's end. Returns whether one has come.
fn has_gone(limit: Duration) -> bool {
    let mut terminal = libc::pollfd { fd: libc::STDOUT_FILENO, events: libc::POLLIN, revents: 0 };
    // SAFETY: there is one descriptor, and its structure lives as long as the call.
    let polled = unsafe { libc::poll(&mut terminal, 1, limit.as_millis() as libc::c_int) };
    polled > 0 && terminal.revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Both restore the terminal for the user's shell; nobody is left to report a failure to.
        let _ = disable_raw_mode();
        let _ = io::stdout().execute(LeaveAlternateScreen);
    }
}

/// What is looked at, and how.
struct View {
    kind: Kind,
    /// Column and direction for each kind.
    order: [(usize, bool); 3],
    filter: String,
    /// Whether keys edit the filter.
    searching: bool,
    paused: bool,
    table: TableState,
}

impl Default for View {
    fn default() -> Self {
        let order = Kind::ALL.map(|kind| (kind.worst_first(), false));
        View {
            kind: Kind::Topics,
            order,
            filter: String::new(),
            searching: false,
            paused: false,
            table: TableState::default().with_selected(0),
        }
    }
}

impl View {
    fn press(&mut self, key: KeyEvent) -> Asked {
        if key.kind == KeyEventKind::Release {
            return Asked::Nothing;
        }
        if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
            return Asked::ToEnd;
        }
        if self.searching {
            match key.code {
                KeyCode::Enter => self.searching = false,
                KeyCode::Esc => (self.searching, self.filter) = (false, String::new()),
                KeyCode::Backspace => drop(self.filter.pop()),
                KeyCode::Char(letter) => self.filter.push(letter),
                _ => {}
            }
            return Asked::Nothing;
        }
        let columns = self.kind.headings().len();
        let order = &mut self.order[self.kind as usize];
        match key.code {
            KeyCode::Char('q') => return Asked::ToEnd,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('1') => self.show(Kind::Topics),
            KeyCode::Char('2') => self.show(Kind::Callbacks),
            KeyCode::Char('3') => self.show(Kind::Chains),
            KeyCode::Tab => self.show(Kind::ALL[(self.kind as usize + 1) % 3]),
            KeyCode::BackTab => self.show(Kind::ALL[(self.kind as usize + 2) % 3]),
            KeyCode::Right => order.0 = (order.0 + 1) % columns,
            KeyCode::Left => order.0 = (order.0 + columns - 1) % columns,
            KeyCode::Char('r') => order.1 = !order.1,
            KeyCode::Char('/') => self.searching = true,
            KeyCode::Char(' ') => self.paused = !self.paused,
            KeyCode::Down | KeyCode::Char('j') => self.table.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.table.select_previous(),
            KeyCode::PageDown => self.table.scroll_down_by(20),
            KeyCode::PageUp => self.table.scroll_up_by(20),
            KeyCode::Home => self.table.select_first(),
            KeyCode::End => self.table.select_last(),
            _ => {}
        }
        Asked::Nothing
    }

    fn show(&mut self, kind: Kind) {
        self.kind = kind;
        self.table.select_first();
    }

    fn draw_on<B: Backend>(
        &mut self,
        terminal: &mut Terminal<B>,
        summary: &Summary,
        facts: &LiveFacts,
        title: &str,
    ) -> io::Result<()> {
        let window_s = facts.filled_ns as f64 / 1e9;
        let (column, ascending) = self.order[self.kind as usize];
        let shown = arrange(rows(self.kind, summary, window_s), &self.filter, column, ascending);
        terminal.draw(|frame| self.draw(frame, &shown, facts, title))?;
        Ok(())
    }

    fn draw(&mut self, frame: &mut Frame, found: &[Row], facts: &LiveFacts, title: &str) {
        let [head, tabs, body, foot] =
            Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)])
                .areas(frame.area());
        let lost = match facts.dropped_events {
            0 => String::new(),
            dropped => format!(", {dropped} EVENTS DROPPED"),
        };
        let paused = if self.paused { ", PAUSED" } else { "" };
        let told = format!(
            "tacho top: {title}: {} processes, {:.0} events/s, last {:.0} s{lost}{paused}",
            facts.processes,
            facts.events_per_s,
            facts.filled_ns as f64 / 1e9
        );
        frame.render_widget(Line::from(told).style(Style::new().add_modifier(Modifier::BOLD)), head);
        let titles = Kind::ALL.map(|kind| {
            let text = format!(" {} {} ", kind as usize + 1, kind.title());
            let style = if kind == self.kind { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
            ratatui::text::Span::styled(text, style)
        });
        frame.render_widget(Line::from(titles.to_vec()), tabs);

        let (sorted, ascending) = self.order[self.kind as usize];
        let columns = columns(self.kind, sorted, frame.area().width);
        let headings = columns.iter().map(|&column| {
            let mark = match (column == sorted, ascending) {
                (false, _) => "",
                (true, true) => " ^",
                (true, false) => " v",
            };
            let text = Line::from(format!("{}{mark}", self.kind.headings()[column]));
            Cell::from(if column == 0 { text } else { text.right_aligned() })
        });
        let hidden = self.kind.headings().len() - columns.len();
        let taken: u16 = columns[1..].iter().map(|&column| width(self.kind.headings()[column]) + 1).sum();
        let room = frame.area().width.saturating_sub(taken).max(NAME);
        let names =
            fitted(&found.iter().map(|row| Named { name: &row.name, kept: row.kept }).collect::<Vec<_>>(), room.into());
        let lines = found.iter().zip(&names).map(|(row, name)| {
            let values = columns[1..]
                .iter()
                .map(|&column| Cell::from(Line::from(shown(row.values[column - 1])).right_aligned()));
            TableRow::new(std::iter::once(Cell::from(name.as_str())).chain(values))
        });
        let widths = columns.iter().map(|&column| match column {
            0 => Constraint::Min(NAME),
            column => Constraint::Length(width(self.kind.headings()[column])),
        });
        let table = Table::new(lines, widths)
            .header(TableRow::new(headings).style(Style::new().add_modifier(Modifier::UNDERLINED)))
            .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
        if found.is_empty() {
            let why = match self.filter.as_str() {
                "" => format!("no {} in this window", self.kind.title().to_lowercase()),
                filter => format!("no {} with {filter:?} in their name", self.kind.title().to_lowercase()),
            };
            frame.render_widget(Paragraph::new(why), body);
        } else {
            frame.render_stateful_widget(table, body, &mut self.table);
        }
        let keys = match (self.searching, self.filter.as_str()) {
            (true, filter) => format!("/{filter}_   enter: keep, esc: all"),
            (false, "") if hidden > 0 => {
                format!("1 2 3: table  left right: sort by, {hidden} more  r: reverse  /: search  q: end")
            }
            (false, "") => {
                "1 2 3 tab: table   left right: sort by   r: reverse   /: search   space: pause   q: end".into()
            }
            (false, filter) => format!("search: {filter}   esc: all   /: change   q: end"),
        };
        frame.render_widget(Line::from(keys), foot);
    }
}

/// Least number of characters of a name.
const NAME: u16 = 24;

/// Characters of a column of numbers, with the mark of the column that the rows are sorted by.
fn width(heading: &str) -> u16 {
    heading.len().max(8) as u16 + 2
}

/// The columns that fit: the name, the one that the rows are sorted by, and the first ones of the others.
fn columns(kind: Kind, sorted: usize, room: u16) -> Vec<usize> {
    // Between two columns there is a blank.
    let takes = |column: usize| width(kind.headings()[column]) + 1;
    let mut room = room.saturating_sub(NAME + if sorted > 0 { takes(sorted) } else { 0 });
    let mut shown = vec![0];
    let mut full = false;
    for column in 1..kind.headings().len() {
        full |= column != sorted && room < takes(column);
        if column == sorted {
            shown.push(column);
        } else if !full {
            room -= takes(column);
            shown.push(column);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::backend::TestBackend;
    use tacho_tables::summary::{Distribution, TopicFigures};

    fn summary() -> Summary {
        let topic = |name: &str, p99: f64| TopicFigures {
            topic: name.into(),
            latency_us: Some(Distribution { count: 2, p99, ..Distribution::default() }),
            sent: 7,
            ..TopicFigures::default()
        };
        Summary { topics: vec![topic("/camera", 100.0), topic("/points", 900.0)], ..Summary::default() }
    }

    fn lines(view: &mut View) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(110, 12)).expect("terminal");
        let facts = LiveFacts { processes: 3, filled_ns: 10_000_000_000, ..LiveFacts::default() };
        view.draw_on(&mut terminal, &summary(), &facts, "runs/x, recording").expect("drawing");
        let buffer = terminal.backend().buffer();
        let row = |y: u16| (0..110).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
        (0..12).map(row).collect()
    }

    fn press(view: &mut View, code: KeyCode) -> Asked {
        view.press(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn topics_are_shown_worst_first() {
        let mut view = View::default();
        let shown = lines(&mut view);
        assert!(shown[0].starts_with("tacho top: runs/x, recording: 3 processes"), "{}", shown[0]);
        assert!(shown[2].contains("p99 us v"), "{}", shown[2]);
        assert!(shown[3].starts_with("/points") && shown[4].starts_with("/camera"), "{shown:?}");
        press(&mut view, KeyCode::Char('r'));
        assert!(lines(&mut view)[3].starts_with("/camera"));
    }

    #[test]
    fn a_small_terminal_has_the_columns_that_fit_whole_and_the_one_that_is_sorted_by() {
        for (kind, all) in [(Kind::Topics, 8), (Kind::Callbacks, 7), (Kind::Chains, 10)] {
            for sorted in 0..all {
                let shown = columns(kind, sorted, 80);
                assert!(shown.contains(&sorted) && shown.is_sorted() && shown[0] == 0, "{shown:?}");
                assert!(NAME + shown[1..].iter().map(|column| width(kind.headings()[*column]) + 1).sum::<u16>() <= 80);
                assert!(shown.len() >= 4, "{shown:?}");
                assert_eq!(columns(kind, sorted, 200).len(), all);
            }
        }
        assert_eq!(columns(Kind::Chains, 9, 20), [0, 9], "far too small: they are cut");
        let mut view = View::default();
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("terminal");
        view.draw_on(&mut terminal, &summary(), &LiveFacts::default(), "runs/x, recording").expect("drawing");
        let buffer = terminal.backend().buffer();
        let row = |y: u16| (0..80).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        assert!(
            row(2).contains("max us") && !row(2).contains("received") && row(23).contains("2 more"),
            "{}\n{}",
            row(2),
            row(23)
        );
    }

    #[test]
    fn dozens_of_chains_between_the_same_ends_do_not_look_the_same() {
        let chain = |k: usize| tacho_tables::summary::ChainFigures {
            name: "/sensing/lidar/top/velodyne_driver to /control/trajectory_follower".into(),
            path: [
                "/a",
                "/points",
                "/b",
                &format!("/perception/objects/branch_{k}"),
                "/c",
                "/control/command/control_cmd",
                "/d",
            ]
            .map(String::from)
            .into(),
            ..Default::default()
        };
        let summary = Summary { chains: (0..40).map(chain).collect(), ..Summary::default() };
        for width in [80u16, 120, 160] {
            let mut view = View::default();
            press(&mut view, KeyCode::Char('3'));
            let mut terminal = Terminal::new(TestBackend::new(width, 50)).expect("terminal");
            view.draw_on(&mut terminal, &summary, &LiveFacts::default(), "runs/x, recording").expect("drawing");
            let buffer = terminal.backend().buffer();
            let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
            let mut rows: Vec<String> = (3..43).map(row).collect();
            assert!(rows.iter().all(|row| row.contains("branch_")), "{rows:?}");
            rows.sort();
            rows.dedup();
            assert_eq!(rows.len(), 40, "{rows:?}");
        }
    }

    #[test]
    fn a_search_leaves_what_it_names_and_escape_ends_it() {
        let mut view = View::default();
        for code in [
            KeyCode::Char('/'),
            KeyCode::Char('c'),
            KeyCode::Char('a'),
            KeyCode::Char('q'),
            KeyCode::Backspace,
            KeyCode::Enter,
        ] {
            assert_eq!(press(&mut view, code), Asked::Nothing);
        }
        let shown = lines(&mut view);
        assert!(shown[3].starts_with("/camera") && shown[4].is_empty(), "{shown:?}");
        press(&mut view, KeyCode::Esc);
        assert!(lines(&mut view)[4].starts_with("/camera"));
        press(&mut view, KeyCode::Char('3'));
        assert!(lines(&mut view)[2].contains("no chains in this window"));
        assert_eq!(press(&mut view, KeyCode::Char('q')), Asked::ToEnd);
    }
}
