//! The application: a light request and a heavy one.

use axum::Router;
use axum::routing::get;

const ROWS: u64 = 4_000;

/// Some 10 µs of work.
fn row(row: u64) -> f64 {
    (0..1_500).fold(row as f64, |x, i| (x * 1.000_1 + f64::from(i)).sqrt())
}

/// Computes where it is called, as a library does that has rayon in it.
fn with_rayon() -> f64 {
    use rayon::prelude::*;
    (0..ROWS).into_par_iter().map(row).sum()
}

fn with_lisle() -> f64 {
    use lisle::par::prelude::*;
    (0..ROWS).into_par_iter().map(row).sum()
}

async fn light() -> &'static str {
    "light"
}

/// The heavy handler calls the library.
pub fn direct() -> Router {
    Router::new().route("/light", get(light)).route("/heavy", get(async || with_rayon().to_string()))
}

/// The heavy handler calls the library on a thread for blocking calls, as tokio's documentation asks.
pub fn apart() -> Router {
    let heavy =
        async || tokio::task::spawn_blocking(with_rayon).await.expect("it does not panic").to_string();
    Router::new().route("/light", get(light)).route("/heavy", get(heavy))
}

/// The heavy handler has a loop of Lisle.
pub fn ported() -> Router {
    Router::new().route("/light", get(light)).route("/heavy", get(async || with_lisle().to_string()))
}
