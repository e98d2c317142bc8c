//! Finds out what the terminal of a stream can show.

use console::Term;

/// A terminal that text is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Characters a line; absent if the terminal does not report it.
    pub columns: Option<usize>,
    /// Whether to use colours; NO_COLOR switches them off.
    pub colour: bool,
}

/// Returns the terminal of stdout; `None` for a file or a pipe.
pub fn stdout_screen() -> Option<Screen> {
    screen(&Term::stdout())
}

/// Returns the terminal of stderr; `None` for a file or a pipe.
pub fn stderr_screen() -> Option<Screen> {
    screen(&Term::stderr())
}

fn screen(output: &Term) -> Option<Screen> {
    let columns = output.size_checked().map(|(_, columns)| usize::from(columns));
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    output.is_term().then_some(Screen { columns, colour })
}
