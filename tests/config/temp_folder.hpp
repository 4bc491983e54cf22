// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace riffle::testing {

/// An empty folder that goes away with its object.
class temp_folder {
 public:
  temp_folder() {
    auto name =
        (std::filesystem::temp_directory_path() / "riffle-XXXXXX").string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file (and its folders); returns its path.
  std::filesystem::path write(const std::string& name,
                              std::string_view text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// Sets (or, with nothing, unsets) an environment variable for a scope.
class scoped_env {
 public:
  scoped_env(std::string name, const std::optional<std::string>& value)
      : name_{std::move(name)} {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    put(value);
  }
  ~scoped_env() { put(old_); }
  scoped_env(const scoped_env&) = delete;
  scoped_env& operator=(const scoped_env&) = delete;

 private:
  void put(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> old_;
};

/// Another working directory for a scope.
class scoped_directory {
 public:
  explicit scoped_directory(const std::filesystem::path& to)
      : old_{std::filesystem::current_path()} {
    std::filesystem::current_path(to);
  }
  ~scoped_directory() {
    std::error_code ignored;
    std::filesystem::current_path(old_, ignored);
  }
  scoped_directory(const scoped_directory&) = delete;
  scoped_directory& operator=(const scoped_directory&) = delete;

 private:
  std::filesystem::path old_;
};

}  // namespace riffle::testing
