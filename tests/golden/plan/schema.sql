CREATE TABLE shop.orders (
  id BIGINT NOT NULL PRIMARY KEY,
  qty INT,
  note VARCHAR(20) NOT NULL COMMENT 'free text'
);
