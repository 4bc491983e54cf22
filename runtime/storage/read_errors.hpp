// SPDX-License-Identifier: MIT
#pragma once

namespace riffle::storage::sqlite {

/// The name of a file layer over SQLite's default one for which a read that
/// fails is a disk that fails. SQLite's own says of it what it says of a
/// damaged file, so that nobody would wait for it.
const char* layer_with_read_errors();

}  // namespace riffle::storage::sqlite
