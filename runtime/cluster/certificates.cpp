// SPDX-License-Identifier: MIT
#include "runtime/cluster/certificates.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "runtime/base/log.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cluster/cluster_net.hpp"

namespace riffle::cluster {

namespace {

constexpr const char* op = "cluster";
constexpr long day = 24L * 60 * 60;

template <auto Free>
struct freer {
  template <class T>
  void operator()(T* x) const {
    Free(x);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freer<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freer<X509_free>>;
using context_ptr = std::unique_ptr<SSL_CTX, freer<SSL_CTX_free>>;
using number_ptr = std::unique_ptr<BIGNUM, freer<BN_free>>;
using file_ptr = std::unique_ptr<FILE, freer<std::fclose>>;

unexpected fail(const std::string& what) {
  return unexpected{error{errc::invalid_config, op, what}};
}

/// With what OpenSSL says about it.
unexpected fail_ssl(const std::string& what) {
  char text[256] = "";
  if (const auto code = ::ERR_get_error(); code != 0)
    ::ERR_error_string_n(code, text, sizeof text);
  ::ERR_clear_error();
  return fail(what + (*text != 0 ? std::string{": "} + text : ""));
}

std::string system_text(int code) {
  return std::generic_category().message(code);
}

/// Never over a file that is there.
expected<file_ptr> create(const std::filesystem::path& file, mode_t mode) {
  unique_fd fd{
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
  if (!fd)
    return fail(file.string() + " cannot be made: " + system_text(errno));
  file_ptr out{::fdopen(fd.get(), "w")};
  if (!out) return fail(file.string() + ": " + system_text(errno));
  static_cast<void>(fd.release());
  return out;
}

file_ptr open_to_read(const std::filesystem::path& file) {
  return file_ptr{std::fopen(file.c_str(), "re")};
}

expected<void> write_both(const certificate_files& files, EVP_PKEY* key,
                          X509* certificate) {
  auto secret = create(files.key, 0600);
  if (!secret) return unexpected{std::move(secret.error())};
  if (::PEM_write_PrivateKey(secret->get(), key, nullptr, nullptr, 0, nullptr,
                             nullptr) != 1 ||
      std::fflush(secret->get()) != 0)
    return fail_ssl(files.key.string() + " cannot be written");
  auto open = create(files.certificate, 0644);
  if (!open) return unexpected{std::move(open.error())};
  if (::PEM_write_X509(open->get(), certificate) != 1 ||
      std::fflush(open->get()) != 0)
    return fail_ssl(files.certificate.string() + " cannot be written");
  return {};
}

bool add_extension(X509* to, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  ::X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  std::unique_ptr<X509_EXTENSION, freer<X509_EXTENSION_free>> made{
      ::X509V3_EXT_conf_nid(nullptr, &context, kind, value)};
  return made && ::X509_add_ext(to, made.get(), -1) == 1;
}

bool set_serial(X509* x) {
  number_ptr number{::BN_new()};
  return number && ::BN_rand(number.get(), 159, BN_RAND_TOP_ANY, 0) == 1 &&
         ::BN_to_ASN1_INTEGER(number.get(), ::X509_get_serialNumber(x)) !=
             nullptr;
}

/// `issuer`: null for one that signs itself.
certificate_ptr make_certificate(EVP_PKEY* key, const std::string& name,
                                 int days, X509* issuer, EVP_PKEY* signer) {
  certificate_ptr x{::X509_new()};
  if (!x || ::X509_set_version(x.get(), 2) != 1 || !set_serial(x.get()) ||
      ::X509_set_pubkey(x.get(), key) != 1)
    return nullptr;
  // Clocks differ: valid from an hour ago.
  ::X509_gmtime_adj(::X509_getm_notBefore(x.get()), -60L * 60);
  ::X509_gmtime_adj(::X509_getm_notAfter(x.get()), days * day);
  auto* subject = ::X509_get_subject_name(x.get());
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  if (::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1,
                                   0) != 1)
    return nullptr;
  auto* from = issuer == nullptr ? x.get() : issuer;
  if (::X509_set_issuer_name(x.get(), ::X509_get_subject_name(from)) != 1)
    return nullptr;
  const bool ca = issuer == nullptr;
  const bool extended =
      add_extension(x.get(), from, NID_basic_constraints,
                    ca ? "critical,CA:TRUE,pathlen:0" : "critical,CA:FALSE") &&
      add_extension(
          x.get(), from, NID_key_usage,
          ca ? "critical,keyCertSign,cRLSign" : "critical,digitalSignature") &&
      (ca || add_extension(x.get(), from, NID_ext_key_usage,
                           "serverAuth,clientAuth"));
  if (!extended || ::X509_sign(x.get(), ca ? key : signer, ::EVP_sha256()) == 0)
    return nullptr;
  return x;
}

key_ptr make_key() { return key_ptr{::EVP_EC_gen("P-256")}; }

}  // namespace

certificate_files files_of(const std::filesystem::path& folder,
                           const std::string& name) {
  return {folder / (name + ".pem"), folder / (name + ".key")};
}

expected<void> make_authority(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(folder.string() + " cannot be made: " + system_text(errno));
  const auto files = files_of(folder, authority);
  if (std::filesystem::exists(files.key) ||
      std::filesystem::exists(files.certificate))
    return fail(folder.string() +
                " has an authority already; `riffle cluster add NAME` adds a "
                "certificate to it");
  const auto key = make_key();
  const auto made = key ? make_certificate(key.get(), "Riffle cluster", 3650,
                                           nullptr, nullptr)
                        : nullptr;
  if (!made) return fail_ssl("the authority cannot be made");
  return write_both(files, key.get(), made.get());
}

expected<certificate_files> add_certificate(const std::filesystem::path& folder,
                                            const std::string& name) {
  const auto ca = files_of(folder, authority);
  const auto secret = open_to_read(ca.key);
  const auto open = open_to_read(ca.certificate);
  if (!secret || !open)
    return fail(folder.string() +
                " has no authority (ca.pem, ca.key); `riffle cluster init " +
                folder.string() + "` makes one");
  const key_ptr signer{
      ::PEM_read_PrivateKey(secret.get(), nullptr, nullptr, nullptr)};
  const certificate_ptr issuer{
      ::PEM_read_X509(open.get(), nullptr, nullptr, nullptr)};
  if (!signer || !issuer) return fail_ssl("the authority cannot be read");
  const auto key = make_key();
  const auto made =
      key ? make_certificate(key.get(), name, 730, issuer.get(), signer.get())
          : nullptr;
  if (!made) return fail_ssl("the certificate cannot be made");
  const auto files = files_of(folder, name);
  if (std::filesystem::exists(files.key) ||
      std::filesystem::exists(files.certificate))
    return fail(name + " has a certificate there already; for a new one move " +
                files.certificate.string() + " and " + files.key.string() +
                " away first (a certificate holds for two years)");
  if (auto done = write_both(files, key.get(), made.get()); !done)
    return unexpected{std::move(done.error())};
  return files;
}

expected<void> check_tls(const tls_files& x) {
  const context_ptr context{::SSL_CTX_new(::TLS_method())};
  if (!context) return fail_ssl("TLS cannot be used");
  if (::SSL_CTX_use_certificate_chain_file(context.get(),
                                           x.certificate.c_str()) != 1)
    return fail_ssl("cluster.tls.certificate: " + x.certificate +
                    " is no PEM certificate that can be read");
  if (::SSL_CTX_use_PrivateKey_file(context.get(), x.key.c_str(),
                                    SSL_FILETYPE_PEM) != 1)
    return fail_ssl("cluster.tls.key: " + x.key +
                    " cannot be read, or is not the key of " + x.certificate);
  struct stat about{};
  if (::stat(x.key.c_str(), &about) == 0 && (about.st_mode & 0077U) != 0)
    log_warn("cluster", "others of this machine may read " + x.key +
                            " (cluster.tls.key): chmod 600 it");
  if (::SSL_CTX_load_verify_locations(context.get(), x.ca.c_str(), nullptr) !=
      1)
    return fail_ssl("cluster.tls.ca: " + x.ca +
                    " is no PEM certificate that can be read");
  auto* store = ::SSL_CTX_get_cert_store(context.get());
  const std::unique_ptr<X509_STORE_CTX, freer<X509_STORE_CTX_free>> check{
      ::X509_STORE_CTX_new()};
  if (!check || ::X509_STORE_CTX_init(check.get(), store,
                                      ::SSL_CTX_get0_certificate(context.get()),
                                      nullptr) != 1)
    return fail_ssl("TLS cannot be used");
  if (::X509_verify_cert(check.get()) != 1)
    return fail("cluster.tls.certificate: " + x.certificate +
                " does not hold: " +
                ::X509_verify_cert_error_string(
                    ::X509_STORE_CTX_get_error(check.get())) +
                " (checked with " + x.ca + ")");
  return {};
}

}  // namespace riffle::cluster
