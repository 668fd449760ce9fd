//! Tests of the served directory. Each path is opened in both ways.

use super::*;
use std::io::Read;
use std::os::unix::fs::symlink;

/// Creates a directory `site` with a neighbour `secret`, and a root for each way of opening.
fn site(build: impl Fn(&Path)) -> (tempfile::TempDir, [Root; 2]) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let site = place.path().join("site");
    std::fs::create_dir(&site).expect("a directory");
    std::fs::write(place.path().join("secret"), "secret").expect("a file");
    build(&site);
    let kernel = Root::new(&site).expect("it exists");
    let checked = Root { path: site, openat2: false };
    (place, [kernel, checked])
}

fn content(root: &Root, relative: &str) -> Result<String, Failure> {
    match root.open(relative.as_bytes())? {
        Found::File(mut file, stat) => {
            let mut text = String::new();
            file.read_to_string(&mut text).expect("readable");
            assert_eq!(text.len() as i64, stat.st_size);
            Ok(text)
        }
        Found::Directory => Ok("(directory)".to_owned()),
    }
}

#[test]
fn files_and_directories() {
    let (_place, roots) = site(|site| {
        std::fs::create_dir(site.join("sub")).unwrap();
        std::fs::write(site.join("sub/a"), "A").unwrap();
    });
    for root in roots {
        assert_eq!(content(&root, "sub/a").as_deref(), Ok("A"));
        assert_eq!(content(&root, "sub").as_deref(), Ok("(directory)"));
        assert_eq!(content(&root, "").as_deref(), Ok("(directory)"));
        assert_eq!(content(&root, "none"), Err(Failure::Missing));
        assert_eq!(content(&root, "sub/a/b"), Err(Failure::Missing));
        assert_eq!(content(&root, &"x".repeat(300)), Err(Failure::Missing));
        assert_eq!(content(&root, &"x/".repeat(3000)), Err(Failure::Missing));
    }
}

#[test]
fn nothing_outside() {
    let (_place, roots) = site(|site| {
        symlink("../secret", site.join("relative")).unwrap();
        symlink(site.parent().unwrap().join("secret"), site.join("absolute")).unwrap();
        symlink("..", site.join("up")).unwrap();
        symlink("/", site.join("system")).unwrap();
        symlink("/proc/self/root", site.join("magic")).unwrap();
        symlink("relative", site.join("twice")).unwrap();
        symlink("round", site.join("round")).unwrap();
    });
    for root in roots {
        for path in [
            "relative",
            "absolute",
            "twice",
            "round",
            "up",
            "up/secret",
            "up/site/../secret",
            "system/etc/passwd",
            "magic/etc/passwd",
            "../secret",
            "..",
            "/etc/passwd",
        ] {
            assert_eq!(content(&root, path), Err(Failure::Missing), "{path} with openat2: {}", root.openat2);
        }
    }
}

#[test]
fn links_that_stay_inside() {
    let (_place, roots) = site(|site| {
        std::fs::create_dir(site.join("sub")).unwrap();
        std::fs::write(site.join("sub/a"), "A").unwrap();
        symlink("sub/a", site.join("relative")).unwrap();
        symlink("../sub/a", site.join("sub/back")).unwrap();
        symlink(site.join("sub/a"), site.join("absolute")).unwrap();
        symlink(site.join("sub"), site.join("directory")).unwrap();
    });
    for root in roots {
        for path in ["relative", "sub/back", "absolute", "directory/a"] {
            assert_eq!(content(&root, path).as_deref(), Ok("A"), "{path} with openat2: {}", root.openat2);
        }
    }
}

#[test]
fn a_neighbour_with_a_longer_name_is_outside() {
    let (place, roots) = site(|site| {
        std::fs::create_dir(site.with_file_name("site-private")).unwrap();
        std::fs::write(site.with_file_name("site-private/key"), "key").unwrap();
        symlink(site.with_file_name("site-private"), site.join("link")).unwrap();
    });
    assert!(place.path().join("site/link/key").exists(), "the link itself works");
    for root in roots {
        assert_eq!(content(&root, "link/key"), Err(Failure::Missing));
    }
}

#[test]
fn what_is_no_file_is_not_read() {
    let (_place, roots) = site(|site| {
        rustix::fs::mknodat(CWD, site.join("fifo"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        std::os::unix::net::UnixListener::bind(site.join("socket")).unwrap();
        symlink("/dev/zero", site.join("device")).unwrap();
    });
    for root in roots {
        for path in ["fifo", "socket", "device"] {
            assert_eq!(content(&root, path), Err(Failure::Missing), "{path} with openat2: {}", root.openat2);
        }
    }
}

#[test]
fn a_directory_that_goes_and_comes_back() {
    let (place, roots) = site(|site| std::fs::write(site.join("a"), "old").unwrap());
    let site = place.path().join("site");
    for root in &roots {
        assert_eq!(content(root, "a").as_deref(), Ok("old"));
    }
    std::fs::remove_dir_all(&site).unwrap();
    for root in &roots {
        assert_eq!(content(root, "a"), Err(Failure::Missing));
    }
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("a"), "new").unwrap();
    for root in &roots {
        assert_eq!(content(root, "a").as_deref(), Ok("new"));
    }
}

#[test]
fn the_directory_must_exist_at_first() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(Root::new(&place.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    std::fs::write(place.path().join("file"), "").unwrap();
    assert_eq!(Root::new(&place.path().join("file")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
}
