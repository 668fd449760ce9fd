//! nginx, as its documentation has it for static files.

use super::{process, site::Site};
use std::{fs, net::SocketAddr, path::PathBuf};

pub(super) fn find() -> Option<PathBuf> {
    process::find("nginx")
}

/// Writes its configuration, and says where.
pub(super) fn configure(site: &Site, address: SocketAddr, workers: usize) -> Result<PathBuf, String> {
    let path = site.work("nginx.conf");
    let text = configuration(site, address, workers);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Files open beforehand, sent by the kernel, without a log, on connections that are never closed.
/// All that nginx writes goes to the sample's folder, so that it needs no rights.
fn configuration(site: &Site, address: SocketAddr, workers: usize) -> String {
    let folder = site.folder().display();
    let work = site.work("");
    let work = work.display();
    format!(
        "\
worker_processes {workers};
daemon off;
pid {work}nginx.pid;
error_log stderr;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    open_file_cache max=100;
    types {{ text/html html; }}
    client_body_temp_path {work}body;
    proxy_temp_path {work}proxy;
    fastcgi_temp_path {work}fastcgi;
    uwsgi_temp_path {work}uwsgi;
    scgi_temp_path {work}scgi;
    server {{ listen {address}; root {folder}; }}
}}
"
    )
}
