// The wheel's Arrow and Parquet carry a whole OpenSSL, thrift and simdjson. docker/arrow hides
// their symbols; this guards that nobody's calls end up inside them.
#include <arrow/api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <parquet/api/writer.h>

#include <cstring>
#include <string>

namespace driftless {
namespace {

std::string LibraryOf(const void* symbol) {
  Dl_info info;
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

TEST(ArrowSymbolsTest, OpenSslIsTheSystemsOne) {
  // Keeps both libraries linked, whatever the linker drops.
  ASSERT_NE(parquet::default_writer_properties(), nullptr);
  ASSERT_EQ(arrow::int64()->id(), arrow::Type::INT64);
  const std::string library = LibraryOf(reinterpret_cast<const void*>(&EVP_MD_fetch));
  EXPECT_NE(library.find("libcrypto"), std::string::npos) << library;
}

TEST(ArrowSymbolsTest, ParquetExportsNoOpenSslAndNoSimdjson) {
  ASSERT_NE(parquet::default_writer_properties(), nullptr);
  // Where the symbols are hidden the loader does not find them in libparquet itself.
  const std::string parquet_library =
      LibraryOf(reinterpret_cast<const void*>(&parquet::default_writer_properties));
  ASSERT_NE(parquet_library.find("libparquet"), std::string::npos) << parquet_library;
  void* handle = dlopen(parquet_library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr) << dlerror();
  const void* symbol = dlsym(handle, "EVP_MD_fetch");
  // libparquet may depend on the system's libcrypto in a distribution's build, never on its own
  // copy.
  EXPECT_TRUE(symbol == nullptr || LibraryOf(symbol).find("libparquet") == std::string::npos);
  EXPECT_EQ(dlsym(handle, "_ZN8simdjson27get_active_implementationEv"), nullptr);
  dlclose(handle);
}

}  // namespace
}  // namespace driftless
