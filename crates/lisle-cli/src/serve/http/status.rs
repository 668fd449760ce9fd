//! The status codes that this server can answer with. Each has a prepared status line and a
//! prepared page.

/// A status code that this server can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u16);

macro_rules! statuses {
    ($($name:ident = $code:literal $reason:literal;)*) => {
        impl Status {
            $(#[doc = $reason] pub(crate) const $name: Status = Status($code);)*

            /// Returns the status line, with its line end.
            pub(crate) fn line(self) -> &'static [u8] {
                match self.0 {
                    $($code => concat!("HTTP/1.1 ", $code, " ", $reason, "\r\n").as_bytes(),)*
                    _ => unreachable!("only the constants make a status"),
                }
            }

            /// Returns a page that shows the status to a user.
            pub(crate) fn page(self) -> &'static [u8] {
                match self.0 {
                    $($code => concat!(
                        "<!doctype html><meta charset=utf-8><meta name=color-scheme content=\"light dark\"><title>",
                        $code, " ", $reason,
                        "</title><body style=\"font:1.2em system-ui;margin:20vh auto;width:max-content\"><h1>",
                        $code, "</h1><p>", $reason, "\n"
                    ).as_bytes(),)*
                    _ => unreachable!("only the constants make a status"),
                }
            }
        }
    };
}

statuses! {
    OK = 200 "OK";
    NO_CONTENT = 204 "No Content";
    PARTIAL_CONTENT = 206 "Partial Content";
    MOVED_PERMANENTLY = 301 "Moved Permanently";
    NOT_MODIFIED = 304 "Not Modified";
    BAD_REQUEST = 400 "Bad Request";
    FORBIDDEN = 403 "Forbidden";
    NOT_FOUND = 404 "Not Found";
    METHOD_NOT_ALLOWED = 405 "Method Not Allowed";
    REQUEST_TIMEOUT = 408 "Request Timeout";
    PRECONDITION_FAILED = 412 "Precondition Failed";
    CONTENT_TOO_LARGE = 413 "Content Too Large";
    URI_TOO_LONG = 414 "URI Too Long";
    RANGE_NOT_SATISFIABLE = 416 "Range Not Satisfiable";
    EXPECTATION_FAILED = 417 "Expectation Failed";
    FIELDS_TOO_LARGE = 431 "Request Header Fields Too Large";
    INTERNAL_SERVER_ERROR = 500 "Internal Server Error";
    NOT_IMPLEMENTED = 501 "Not Implemented";
    SERVICE_UNAVAILABLE = 503 "Service Unavailable";
    VERSION_NOT_SUPPORTED = 505 "HTTP Version Not Supported";
}

impl Status {
    /// Returns the number.
    pub(crate) fn code(self) -> u16 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_line_and_page_agree() {
        assert_eq!(Status::NOT_FOUND.line(), b"HTTP/1.1 404 Not Found\r\n");
        assert!(Status::NOT_FOUND.page().ends_with(b"<h1>404</h1><p>Not Found\n"));
        assert_eq!(Status::NOT_FOUND.code(), 404);
    }
}
