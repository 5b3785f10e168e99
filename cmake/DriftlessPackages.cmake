# The packaged libraries, found once; docker/dependencies.sh installs them.
include_guard(GLOBAL)

find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(spdlog CONFIG REQUIRED)
find_package(CLI11 CONFIG REQUIRED)
find_package(simdjson CONFIG REQUIRED)
find_package(yaml-cpp CONFIG REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
find_package(tl-expected CONFIG REQUIRED)
find_package(zstd CONFIG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(absl CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
# LGPL: linked dynamically. MySQL and MariaDB connections, authentication and TLS.
pkg_check_modules(LIBMARIADB REQUIRED IMPORTED_TARGET libmariadb)
# The database of Iceberg's jdbc catalogs.
pkg_check_modules(LIBPQ REQUIRED IMPORTED_TARGET libpq)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(LIBEDIT REQUIRED IMPORTED_TARGET libedit)
# Bitmaps of deletion vectors; Debian's package has no CMake file.
find_library(ROARING_LIBRARY roaring REQUIRED)
