// SPDX-License-Identifier: MIT
#include "runtime/storage/read_errors.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <sqlite3.h>
#include <string>

namespace riffle::storage::sqlite {

namespace {

/// Methods of files, first ours, so that a file leads to both.
struct method_table {
  sqlite3_io_methods own;
  const sqlite3_io_methods* below;
};

struct file_layer {
  sqlite3_vfs own;
  sqlite3_vfs* below;
  std::string name;
};

/// They live as long as the process: SQLite keeps what is registered.
struct known_layers {
  std::mutex mutex;
  std::map<sqlite3_vfs*, std::unique_ptr<file_layer>> layers;
  std::map<const sqlite3_io_methods*, std::unique_ptr<method_table>> tables;
};

known_layers& known() {
  static auto* const all = new known_layers;
  return *all;
}

int read_file(sqlite3_file* x, void* to, int size, sqlite3_int64 at) {
  const auto* table = reinterpret_cast<const method_table*>(x->pMethods);
  const int code = table->below->xRead(x, to, size, at);
  return code == SQLITE_IOERR_CORRUPTFS ? SQLITE_IOERR_READ : code;
}

const sqlite3_io_methods* methods_over(const sqlite3_io_methods* below) {
  const std::lock_guard lock{known().mutex};
  auto& table = known().tables[below];
  if (!table) {
    table = std::make_unique<method_table>(method_table{*below, below});
    table->own.xRead = read_file;
  }
  return &table->own;
}

int open_file(sqlite3_vfs* layer, const char* name, sqlite3_file* x, int flags,
              int* out) {
  auto* below = reinterpret_cast<file_layer*>(layer)->below;
  const int code = below->xOpen(below, name, x, flags, out);
  if (x->pMethods != nullptr) x->pMethods = methods_over(x->pMethods);
  return code;
}

}  // namespace

const char* layer_with_read_errors() {
  auto* below = sqlite3_vfs_find(nullptr);
  if (below == nullptr) return nullptr;
  const std::lock_guard lock{known().mutex};
  auto& layer = known().layers[below];
  if (!layer) {
    const auto n = std::to_string(known().layers.size());
    layer =
        std::make_unique<file_layer>(file_layer{*below, below, "riffle" + n});
    layer->own.pNext = nullptr;
    layer->own.zName = layer->name.c_str();
    layer->own.xOpen = open_file;
    sqlite3_vfs_register(&layer->own, 0);
  }
  return layer->name.c_str();
}

}  // namespace riffle::storage::sqlite
