//! Tables into one HTML file.
