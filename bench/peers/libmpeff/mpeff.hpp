#pragma once

// libmpeff, as it is when it is built as C.

extern "C" {
#include <mpeff.h>
}
