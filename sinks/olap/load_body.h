#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

namespace driftless::olap {

// The bytes of a load while they are written: a string whose new room is not zeroed first, and that
// is written through a pointer. Grows by doubling.
class LoadBody {
 public:
  // Room for `size` more bytes; the pointer to the first of them. Valid until the next call.
  char* Reserve(size_t size) {
    if (capacity_ - size_ < size) Grow(size);
    return data_.get() + size_;
  }
  // Everything up to `end`, a pointer into what Reserve gave, is part of the body now.
  void Commit(const char* end) { size_ = static_cast<size_t>(end - data_.get()); }

  void Append(char c) {
    char* at = Reserve(1);
    *at = c;
    Commit(at + 1);
  }
  void Append(std::string_view text) {
    char* at = Reserve(text.size());
    Commit(std::copy(text.begin(), text.end(), at));
  }
  void SetLast(char c) { data_.get()[size_ - 1] = c; }
  void Truncate(size_t size) { size_ = size; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {data_.get(), size_}; }
  // Empty again; room beyond `kept` bytes goes back to the system.
  void Clear(size_t kept) {
    size_ = 0;
    if (capacity_ <= kept) return;
    data_.reset();
    capacity_ = 0;
  }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };

  void Grow(size_t size) {
    const size_t wanted = std::max<size_t>({size_ + size, capacity_ * 2, 4096});
    // realloc moves pages of large buffers instead of copying them.
    auto* grown = static_cast<char*>(std::realloc(data_.get(), wanted));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(grown);
    capacity_ = wanted;
  }

  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace driftless::olap
