//! What the terminal of a stream takes.

use console::Term;

/// A terminal that text is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Characters a line; absent where the terminal does not say.
    pub columns: Option<usize>,
    /// Whether colours are wanted: unless NO_COLOR says otherwise.
    pub colour: bool,
}

/// The terminal that stdout is; `None`: a file or a pipe.
pub fn stdout_screen() -> Option<Screen> {
    screen(&Term::stdout())
}

/// The terminal that stderr is; `None`: a file or a pipe.
pub fn stderr_screen() -> Option<Screen> {
    screen(&Term::stderr())
}

fn screen(output: &Term) -> Option<Screen> {
    let columns = output.size_checked().map(|(_, columns)| usize::from(columns));
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    output.is_term().then_some(Screen { columns, colour })
}
