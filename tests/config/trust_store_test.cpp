// SPDX-License-Identifier: MIT
#include "runtime/config/trust_store.hpp"

#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/digest.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using config::trust_store;
using testing::temp_folder;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& x) {
  struct stat about{};
  REQUIRE(::stat(x.c_str(), &about) == 0);
  return about.st_mode & 07777;
}

fs::path only_entry(const fs::path& folder) {
  fs::path out;
  for (const auto& x : fs::directory_iterator{folder}) {
    CHECK(out.empty());
    out = x.path();
  }
  return out;
}

}  // namespace

TEST_CASE("what was trusted is found again, by its place") {
  const temp_folder x;
  const auto folder = x.path() / "a/trust";
  const trust_store store{folder};
  CHECK(store.find("/x/riffle.toml")->has_value() == false);
  CHECK(store.list()->empty());
  CHECK(store.revoke("/x/riffle.toml") == false);

  REQUIRE(store.trust("/x/riffle.toml", "one\n", wall_time{5}));
  REQUIRE(store.trust("/y/riffle.toml", "two", wall_time{6}));
  REQUIRE(store.trust("/x/riffle.toml", "new\n", wall_time{7}));
  const auto found = store.find("/x/riffle.toml");
  REQUIRE((found && *found));
  CHECK((*found)->text == "new\n");
  CHECK((*found)->digest == sha256("new\n"));
  CHECK((*found)->since == wall_time{7});
  const auto all = store.list();
  REQUIRE((all && all->size() == 2));
  CHECK((*all)[0].file == "/x/riffle.toml");
  CHECK((*all)[1].file == "/y/riffle.toml");

  CHECK(store.revoke("/x/riffle.toml") == true);
  CHECK_FALSE(store.find("/x/riffle.toml")->has_value());
  CHECK(store.find("/y/riffle.toml")->has_value());
}

TEST_CASE("a folder whose name is no UTF-8 is trusted like others") {
  const temp_folder x;
  const trust_store store{x.path() / "trust"};
  const fs::path file{"/x/nf\xff/riffle.toml"};
  REQUIRE(store.trust(file, "text", {}));
  const auto found = store.find(file);
  REQUIRE((found && *found));
  CHECK((*found)->text == "text");
  CHECK_FALSE(store.find("/x/nf\xfe/riffle.toml")->has_value());
  CHECK(store.revoke(file) == true);
  CHECK_FALSE(store.find(file)->has_value());
}

TEST_CASE("what is trusted is the person's alone") {
  const temp_folder x;
  const auto folder = x.path() / "trust";
  const trust_store store{folder};
  REQUIRE(store.trust("/x/riffle.toml", "text", {}));
  CHECK(mode_of(folder) == 0700);
  const auto entry = only_entry(folder);
  CHECK(mode_of(entry) == 0600);

  // Others could have written it: then it says nothing.
  ::chmod(entry.c_str(), 0622);
  CHECK_FALSE(store.find("/x/riffle.toml")->has_value());
  ::chmod(entry.c_str(), 0600);
  CHECK(store.find("/x/riffle.toml")->has_value());
  if (::geteuid() == 0) {
    REQUIRE(::chown(entry.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(store.find("/x/riffle.toml")->has_value());
    REQUIRE(::chown(entry.c_str(), 0, 0) == 0);
  }
  // The same of the whole store.
  ::chmod(folder.c_str(), 0777);
  CHECK_FALSE(store.find("/x/riffle.toml"));
  CHECK_FALSE(store.trust("/y/riffle.toml", "text", {}));
}

TEST_CASE("a damaged entry, or one of another file, is none") {
  const temp_folder x;
  const trust_store store{x.path() / "trust"};
  REQUIRE(store.trust("/x/riffle.toml", "text", {}));
  const auto entry = only_entry(x.path() / "trust");
  REQUIRE(store.trust("/y/riffle.toml", "other", {}));
  const auto copy = x.path() / "copy";
  fs::copy(entry, copy);
  for (const auto* text : {"", "{", "[]", "null",
                           "{\"file\":\"/x/riffle.toml\",\"text\":\"text\","
                           "\"digest\":\"00\"}",
                           "{\"file\":7,\"text\":{},\"digest\":[]}"}) {
    std::ofstream{entry} << text;
    CHECK_FALSE(store.find("/x/riffle.toml")->has_value());
  }
  const auto other = x.path() / "trust" / sha256("/y/riffle.toml");
  fs::copy_file(copy, other, fs::copy_options::overwrite_existing);
  CHECK_FALSE(store.find("/y/riffle.toml")->has_value());
  fs::remove(entry);
  fs::create_symlink(copy, entry);
  CHECK_FALSE(store.find("/x/riffle.toml")->has_value());
}

TEST_CASE("what a process left that was killed goes away") {
  const temp_folder x;
  const auto left = x.write("trust/.new", "half");
  ::chmod((x.path() / "trust").c_str(), 0700);
  const trust_store store{x.path() / "trust"};
  CHECK(store.list()->empty());
  REQUIRE(store.trust("/x/riffle.toml", "text", {}));
  CHECK_FALSE(fs::exists(left));
  CHECK(store.list()->size() == 1);
}

TEST_CASE("two processes that trust files at the same time lose nothing") {
  const temp_folder x;
  constexpr int each = 100;
  std::vector<pid_t> children;
  for (int child = 0; child < 2; ++child) {
    const auto pid = ::fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      const trust_store store{x.path() / "trust"};
      bool good = true;
      for (int i = 0; i < each; ++i)
        good = store
                   .trust("/" + std::to_string(child) + "/" + std::to_string(i),
                          "text", {})
                   .has_value() &&
               store.trust("/both", std::to_string(child), {}).has_value() &&
               good;
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const auto pid : children) {
    int status = -1;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    CHECK(status == 0);
  }
  const trust_store store{x.path() / "trust"};
  CHECK(store.list()->size() == 2 * each + 1);
}

TEST_CASE("ten thousand files may be trusted", "[torture]") {
  const temp_folder x;
  const trust_store store{x.path() / "trust"};
  for (int i = 0; i < 10'000; ++i)
    REQUIRE(store.trust("/" + std::to_string(i) + "/riffle.toml", "text", {}));
  CHECK(store.list()->size() == 10'000);
  CHECK(store.find("/9999/riffle.toml")->has_value());
}

TEST_CASE("a file is named by the real path of its folder") {
  const temp_folder x;
  const auto file = x.write("a/riffle.toml", "");
  const auto real = fs::canonical(x.path() / "a") / "riffle.toml";
  CHECK(config::trust_name(file) == real);
  CHECK(config::trust_name(x.path() / "a/../a/./riffle.toml") == real);
  fs::create_directory_symlink(x.path() / "a", x.path() / "b");
  CHECK(config::trust_name(x.path() / "b/riffle.toml") == real);
  const testing::scoped_directory there{x.path() / "b"};
  CHECK(config::trust_name("riffle.toml") == real);
}
