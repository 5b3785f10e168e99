-- Scenario a_ddl, part 1: what is there when the snapshot is taken
CREATE DATABASE shop CHARACTER SET utf8mb4;
USE shop;
CREATE TABLE shop.customers ( id BIGINT NOT NULL AUTO_INCREMENT, email VARCHAR(120) NOT NULL, name VARCHAR(20) DEFAULT NULL, phone VARCHAR(20) NULL, level TINYINT NOT NULL DEFAULT 0, balance DECIMAL(10,2) DEFAULT NULL, is_active TINYINT(1) NOT NULL DEFAULT 1, birthday DATE NULL, created_at DATETIME NOT NULL, updated_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), PRIMARY KEY (id), UNIQUE KEY uk_email (email) ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='shop customers';
CREATE TABLE shop.products ( id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, sku CHAR(12) NOT NULL, title VARCHAR(60) NOT NULL DEFAULT '', price DECIMAL(10,2) NOT NULL, stock INT NOT NULL DEFAULT 0, weight FLOAT NULL, attrs JSON NULL, status ENUM('draft','on','off') NOT NULL DEFAULT 'draft', tags SET('new','hot','sale') NOT NULL DEFAULT '', KEY idx_sku (sku) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE shop.orders ( id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, customer_id BIGINT NOT NULL, status ENUM('new','paid','shipped','done','cancelled') NOT NULL DEFAULT 'new', total DECIMAL(10,2) NOT NULL DEFAULT 0.00, note TEXT NULL, created_at DATETIME(3) NOT NULL, PRIMARY KEY (id), KEY idx_customer (customer_id, created_at) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE shop.order_items ( order_id BIGINT UNSIGNED NOT NULL, line_no INT NOT NULL, product_id INT NOT NULL, qty SMALLINT UNSIGNED NOT NULL DEFAULT 1, price DECIMAL(10,2) NOT NULL, PRIMARY KEY (order_id, line_no) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE shop.inventory ( warehouse SMALLINT NOT NULL, product_id INT NOT NULL, qty INT NOT NULL, counted_on DATE NULL, PRIMARY KEY (product_id, warehouse) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE audit_log ( at DATETIME NOT NULL, who VARCHAR(30), what VARCHAR(200), seq INT NOT NULL );
CREATE TABLE legacy_latin ( id INT PRIMARY KEY, txt VARCHAR(50), fixed CHAR(10) ) DEFAULT CHARSET=latin1;
CREATE TABLE legacy_gbk ( id INT PRIMARY KEY, txt VARCHAR(50) CHARACTER SET gbk, u16 VARCHAR(20) CHARACTER SET utf16, big5 VARCHAR(20) CHARACTER SET big5, sj VARCHAR(20) CHARACTER SET sjis, bin_txt VARCHAR(20) COLLATE utf8mb4_bin );
CREATE TABLE events_p ( id BIGINT NOT NULL, day DATE NOT NULL, kind VARCHAR(10), PRIMARY KEY (id, day) ) PARTITION BY RANGE COLUMNS(day) ( PARTITION p2023 VALUES LESS THAN ('2024-01-01'), PARTITION p2024 VALUES LESS THAN ('2025-01-01') );
CREATE TABLE empty_at_snapshot ( id INT PRIMARY KEY, v VARCHAR(10) );
CREATE TABLE retype ( id INT PRIMARY KEY, i2s INT, s2i VARCHAR(20), d2dt DATE, dt2dt6 DATETIME, ts2dt TIMESTAMP NULL, f2d FLOAT, t2mt TEXT, c2v CHAR(8), b2i TINYINT(1), j2t JSON, u2s INT UNSIGNED, i2u INT, v2b VARCHAR(20), bit1 BIT(1), y2i YEAR, bl2lb BLOB, e2v ENUM('a','b'), dec2int DECIMAL(10,2), int2dec INT, d2s DOUBLE, tm TIME, big2int BIGINT, len_s VARCHAR(50) );
CREATE VIEW v_paid AS SELECT id, total FROM orders WHERE status = 'paid';
-- @checkpoint setup
-- Scenario a_ddl, part 2: the change stream; rows interleaved with DDL
USE shop;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
BEGIN;
COMMIT;
-- @checkpoint rows-only
ALTER TABLE customers ADD COLUMN nickname VARCHAR(40) NULL;
-- @checkpoint add-column-last
ALTER TABLE `shop`.`customers` ADD COLUMN `tenant_id` INT NOT NULL DEFAULT 7 FIRST;
-- @checkpoint add-column-first-notnull-default
alter table customers add middle_name varchar(30) default 'n/a' after name;
-- @checkpoint add-column-after-default
BEGIN;
COMMIT;
ALTER TABLE orders ADD COLUMN channel VARCHAR(16) NOT NULL DEFAULT 'web', ADD COLUMN coupon VARCHAR(32) NULL COMMENT 'code, may be ''null''';
-- @checkpoint add-two-columns-multi-clause
BEGIN;
COMMIT;
ALTER TABLE orders ADD (gift TINYINT(1) NOT NULL DEFAULT 0, gift_note VARCHAR(100) DEFAULT 'it''s; a -- gift');
-- @checkpoint add-columns-parenthesised
ALTER TABLE products ADD COLUMN origin_code INT NOT NULL, ADD COLUMN origin VARCHAR(10) NOT NULL, ADD COLUMN made DATE NOT NULL DEFAULT '2020-02-29', ADD COLUMN ratio DOUBLE NOT NULL DEFAULT 0.1, ADD COLUMN price2 DECIMAL(12,3) DEFAULT 12.5, ADD COLUMN flag BIT(3) NOT NULL DEFAULT b'101';
-- @checkpoint add-column-notnull-no-default
ALTER TABLE products DROP COLUMN weight;
-- @checkpoint drop-column
BEGIN;
COMMIT;
ALTER TABLE products DROP made, DROP COLUMN flag;
-- @checkpoint drop-two-columns
BEGIN;
COMMIT;
ALTER TABLE products RENAME COLUMN title TO display_title;
-- @checkpoint rename-column
ALTER TABLE products CHANGE COLUMN stock stock_qty BIGINT NOT NULL DEFAULT 0;
-- @checkpoint change-column-rename-retype
BEGIN;
COMMIT;
ALTER TABLE products CHANGE sku sku CHAR(16) NOT NULL;
-- @checkpoint change-column-same-name
ALTER TABLE customers MODIFY COLUMN level INT NOT NULL DEFAULT 0;
-- @checkpoint modify-tinyint-to-int
BEGIN;
COMMIT;
ALTER TABLE customers MODIFY name VARCHAR(200);
-- @checkpoint modify-varchar-longer
ALTER TABLE orders MODIFY total DECIMAL(18,4) NOT NULL DEFAULT 0;
-- @checkpoint modify-decimal-wider
BEGIN;
COMMIT;
ALTER TABLE inventory MODIFY qty BIGINT NOT NULL;
-- @checkpoint modify-int-to-bigint
BEGIN;
COMMIT;
ALTER TABLE inventory MODIFY qty INT NOT NULL;
-- @checkpoint modify-bigint-to-int-narrow
BEGIN;
COMMIT;
ALTER TABLE orders MODIFY note TEXT NOT NULL;
-- @checkpoint modify-null-to-notnull
ALTER TABLE orders MODIFY note TEXT NULL;
-- @checkpoint modify-notnull-to-null
ALTER TABLE orders ALTER COLUMN channel SET DEFAULT 'app';
ALTER TABLE orders ALTER channel DROP DEFAULT;
ALTER TABLE customers ALTER COLUMN middle_name SET DEFAULT 'none';
-- @checkpoint set-drop-default
BEGIN;
COMMIT;
ALTER TABLE customers COMMENT = 'shop customers; "v2"';
ALTER TABLE customers MODIFY phone VARCHAR(20) NULL COMMENT 'with ''quotes'' and 中文';
-- @checkpoint comments-only
ALTER TABLE customers MODIFY COLUMN phone VARCHAR(20) NULL COMMENT 'with ''quotes'' and 中文' FIRST, MODIFY is_active TINYINT(1) NOT NULL DEFAULT 1 AFTER email;
-- @checkpoint reorder-columns-only
ALTER TABLE products MODIFY status ENUM('draft','on','off','gone') NOT NULL DEFAULT 'draft', MODIFY tags SET('new','hot','sale','eco') NOT NULL DEFAULT '';
-- @checkpoint enum-append
BEGIN;
COMMIT;
ALTER TABLE products MODIFY status ENUM('gone','off','on','draft') NOT NULL DEFAULT 'draft';
-- @checkpoint enum-reorder
ALTER TABLE products ADD COLUMN maker VARCHAR(30) NULL AFTER id, DROP COLUMN origin_code, CHANGE COLUMN ratio rate DECIMAL(20,10) NOT NULL DEFAULT 0.5 FIRST, MODIFY price DECIMAL(14,4) NOT NULL, ADD INDEX idx_maker (maker), DROP INDEX idx_sku, COMMENT 'mixed', AUTO_INCREMENT = 5000;
-- @checkpoint multi-clause-mixed
BEGIN;
COMMIT;
ALTER TABLE products ADD COLUMN x1 INT NULL, ADD COLUMN x2 INT NULL AFTER x1, ADD COLUMN x3 INT NULL FIRST, ADD COLUMN x4 INT NULL AFTER x3;
-- @checkpoint add-column-then-use-in-same-alter
BEGIN;
COMMIT;
ALTER TABLE products DROP COLUMN x1, ADD COLUMN x1 VARCHAR(12) NULL DEFAULT 'again';
-- @checkpoint drop-and-readd-same-name
ALTER TABLE orders ADD COLUMN seen_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD COLUMN touched_at TIMESTAMP(6) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(6), ADD COLUMN meta JSON DEFAULT (JSON_OBJECT('v', 1)), ADD COLUMN half INT DEFAULT (10 / 2);
-- @checkpoint default-expressions
ALTER TABLE order_items ADD COLUMN amount DECIMAL(14,2) GENERATED ALWAYS AS (qty * price) STORED, ADD COLUMN big TINYINT(1) AS (qty > 5) VIRTUAL;
-- @checkpoint generated-columns
BEGIN;
COMMIT;
CREATE INDEX idx_status ON orders (status);
ALTER TABLE orders ADD UNIQUE KEY uk_x (id, status), RENAME INDEX idx_status TO idx_st2;
DROP INDEX idx_st2 ON orders;
CREATE UNIQUE INDEX uk_sku2 ON products (sku, id);
CREATE FULLTEXT INDEX ft_note ON orders (note);
-- @checkpoint add-drop-index
BEGIN;
COMMIT;
ALTER TABLE audit_log ADD PRIMARY KEY (seq);
-- @checkpoint add-primary-key
ALTER TABLE audit_log DROP PRIMARY KEY, ADD PRIMARY KEY (seq, at);
-- @checkpoint change-primary-key
ALTER TABLE audit_log DROP PRIMARY KEY;
-- @checkpoint drop-primary-key
-- @checkpoint rows-in-table-without-key
CREATE TABLE IF NOT EXISTS reviews ( id INT AUTO_INCREMENT PRIMARY KEY, product_id INT NOT NULL, stars TINYINT UNSIGNED NOT NULL, body VARCHAR(500) );
-- @checkpoint create-table
CREATE TABLE IF NOT EXISTS reviews ( other INT );
-- @checkpoint create-table-if-not-exists-noop
TRUNCATE TABLE reviews;
-- @checkpoint truncate-table
TRUNCATE empty_at_snapshot;
-- @checkpoint truncate-short-form
RENAME TABLE reviews TO product_reviews;
-- @checkpoint rename-table
ALTER TABLE product_reviews RENAME TO reviews_v2, ADD COLUMN lang CHAR(2) DEFAULT 'xx';
-- @checkpoint alter-table-rename
BEGIN;
COMMIT;
CREATE TABLE inventory_copy LIKE inventory;
-- @checkpoint create-table-like
-- @checkpoint insert-select
CREATE TABLE big_orders ( PRIMARY KEY (id) ) AS SELECT id, total, status FROM orders ORDER BY id LIMIT 60;
-- @checkpoint create-table-as-select
RENAME TABLE inventory TO inventory_old, inventory_copy TO inventory, inventory_old TO inventory_copy;
-- @checkpoint rename-swap-three-way
-- @checkpoint rows-after-swap
DROP TABLE big_orders;
-- @checkpoint drop-table
CREATE TABLE tmp_a (id INT PRIMARY KEY);
CREATE TABLE tmp_b (id INT PRIMARY KEY);
DROP TABLE IF EXISTS tmp_a, tmp_b, tmp_missing;
-- @checkpoint drop-table-multi
CREATE TABLE tmp_a (k VARCHAR(10) PRIMARY KEY, v DATETIME(2));
-- @checkpoint recreate-with-other-schema
CREATE TEMPORARY TABLE tt (id INT PRIMARY KEY);
DROP TEMPORARY TABLE tt;
-- @checkpoint temporary-table
ALTER TABLE events_p ADD PARTITION (PARTITION p2025 VALUES LESS THAN ('2026-01-01'));
-- @checkpoint add-partition
ALTER TABLE events_p REORGANIZE PARTITION p2025 INTO (PARTITION p2025a VALUES LESS THAN ('2025-07-01'), PARTITION p2025b VALUES LESS THAN ('2026-01-01'));
-- @checkpoint reorganize-partition
BEGIN;
COMMIT;
-- the next two remove rows without row events
ALTER TABLE events_p TRUNCATE PARTITION p2025a;
-- @checkpoint truncate-partition
ALTER TABLE events_p DROP PARTITION p2023;
-- @checkpoint drop-partition
CREATE TABLE events_x ( id BIGINT NOT NULL, day DATE NOT NULL, kind VARCHAR(10), PRIMARY KEY (id, day) );
ALTER TABLE events_p EXCHANGE PARTITION p2024 WITH TABLE events_x;
-- @checkpoint exchange-partition
ALTER TABLE events_p REMOVE PARTITIONING;
-- @checkpoint remove-partitioning
ALTER TABLE legacy_latin ADD COLUMN extra VARCHAR(10) DEFAULT 'é';
-- @checkpoint add-column-in-latin1
ALTER TABLE legacy_latin CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
-- @checkpoint convert-charset
ALTER TABLE legacy_gbk CONVERT TO CHARACTER SET utf8mb4;
ALTER TABLE legacy_gbk DEFAULT CHARACTER SET latin1;
ALTER TABLE legacy_gbk ADD COLUMN in_latin VARCHAR(5);
-- @checkpoint convert-charset-gbk
ALTER TABLE retype MODIFY i2s VARCHAR(20);
-- @checkpoint retype-int-to-varchar
ALTER TABLE retype MODIFY s2i INT;
-- @checkpoint retype-varchar-to-int
ALTER TABLE retype MODIFY d2dt DATETIME;
-- @checkpoint retype-date-to-datetime
ALTER TABLE retype MODIFY dt2dt6 DATETIME(6);
-- @checkpoint retype-datetime-to-datetime6
ALTER TABLE retype MODIFY ts2dt DATETIME NULL;
-- @checkpoint retype-timestamp-to-datetime
ALTER TABLE retype MODIFY f2d DOUBLE;
-- @checkpoint retype-float-to-double
ALTER TABLE retype MODIFY t2mt MEDIUMTEXT;
-- @checkpoint retype-text-to-mediumtext
ALTER TABLE retype MODIFY c2v VARCHAR(80);
-- @checkpoint retype-char-to-varchar
ALTER TABLE retype MODIFY b2i INT;
-- @checkpoint retype-tinyint1-to-int
ALTER TABLE retype MODIFY j2t TEXT;
-- @checkpoint retype-json-to-text
ALTER TABLE retype MODIFY u2s INT;
-- @checkpoint retype-unsigned-to-signed
ALTER TABLE retype MODIFY i2u INT UNSIGNED;
-- @checkpoint retype-signed-to-unsigned
ALTER TABLE retype MODIFY v2b VARBINARY(100);
-- @checkpoint retype-varchar-to-varbinary
ALTER TABLE retype MODIFY bit1 BIT(8);
-- @checkpoint retype-bit1-to-bit8
ALTER TABLE retype MODIFY y2i INT;
-- @checkpoint retype-year-to-int
ALTER TABLE retype MODIFY bl2lb LONGBLOB;
-- @checkpoint retype-blob-to-longblob
ALTER TABLE retype MODIFY e2v VARCHAR(10);
-- @checkpoint retype-enum-to-varchar
ALTER TABLE retype MODIFY dec2int INT;
-- @checkpoint retype-decimal-to-int
ALTER TABLE retype MODIFY int2dec DECIMAL(12,4);
-- @checkpoint retype-int-to-decimal
ALTER TABLE retype MODIFY d2s VARCHAR(40);
-- @checkpoint retype-double-to-varchar
ALTER TABLE retype MODIFY tm TIME(3);
-- @checkpoint retype-time-to-time3
ALTER TABLE retype MODIFY big2int INT;
-- @checkpoint retype-bigint-to-int
ALTER TABLE retype MODIFY len_s VARCHAR(18);
-- @checkpoint retype-varchar-shorter
/* leading comment */ ALTER /* c1 */ TABLE `shop` . `retype` ADD /* c2 */ COLUMN `we ird``col` INT DEFAULT '3' COMMENT 'a /* not a comment */ -- b';
ALTER TABLE retype ADD COLUMN vers_c INT NULL;
ALTER TABLE retype ADD COLUMN `select` VARCHAR(3) NULL, ADD COLUMN `中文列` VARCHAR(10) DEFAULT '默认';
-- @checkpoint odd-ddl-text
CREATE DATABASE `Other-DB`;
USE `Other-DB`;
ALTER TABLE shop.retype DROP COLUMN vers_c;
CREATE TABLE T1 (id INT PRIMARY KEY, V VARCHAR(5));
-- @checkpoint ddl-from-other-default-db
USE shop;
RENAME TABLE `Other-DB`.T1 TO shop.t1_moved;
-- @checkpoint move-table-to-other-db
CREATE TABLE `订单 表` ( `编号` INT PRIMARY KEY, `Größe` VARCHAR(10) );
-- @checkpoint unicode-table-name
CREATE TABLE `Other-DB`.gone (id INT PRIMARY KEY);
DROP DATABASE `Other-DB`;
-- @checkpoint drop-database
CREATE OR REPLACE VIEW v_paid AS SELECT id FROM orders;
DROP VIEW v_paid;
CREATE PROCEDURE p1() SELECT 1;
DROP PROCEDURE p1;
CREATE FUNCTION f1(x INT) RETURNS INT DETERMINISTIC RETURN x + 1;
DROP FUNCTION f1;
CREATE USER 'shop_ro'@'localhost' IDENTIFIED BY 'synthetic-Pass1';
GRANT SELECT ON shop.* TO 'shop_ro'@'localhost';
DROP USER 'shop_ro'@'localhost';
ANALYZE TABLE orders;
OPTIMIZE TABLE t1_moved;
ALTER TABLE t1_moved ENGINE=InnoDB;
ALTER TABLE t1_moved ROW_FORMAT=COMPRESSED;
ALTER DATABASE shop DEFAULT CHARACTER SET latin1;
ALTER DATABASE shop CHARACTER SET utf8mb4;
FLUSH TABLES;
CREATE EVENT ev1 ON SCHEDULE EVERY 1 YEAR DO SET @x = 1;
DROP EVENT ev1;
-- @checkpoint ignorable-ddl
CREATE TABLE order_audit ( n INT AUTO_INCREMENT PRIMARY KEY, order_id BIGINT UNSIGNED, old_status VARCHAR(10), new_status VARCHAR(10) );
CREATE TRIGGER orders_au AFTER UPDATE ON orders FOR EACH ROW INSERT INTO order_audit (order_id, old_status, new_status) VALUES (OLD.id, OLD.status, NEW.status);
-- @checkpoint trigger-written-rows
DROP TRIGGER orders_au;
-- @checkpoint drop-trigger
CREATE TABLE parent ( id INT PRIMARY KEY, v VARCHAR(5) );
CREATE TABLE child ( id INT PRIMARY KEY, parent_id INT, CONSTRAINT fk_p FOREIGN KEY (parent_id) REFERENCES parent (id) ON DELETE CASCADE ON UPDATE CASCADE );
-- @checkpoint foreign-keys
-- @checkpoint foreign-key-cascade
ALTER TABLE child DROP FOREIGN KEY fk_p;
ALTER TABLE child ADD CONSTRAINT chk CHECK (id > 0);
-- @checkpoint drop-foreign-key
ALTER TABLE parent ADD COLUMN IF NOT EXISTS i1 INT DEFAULT 5, ALGORITHM=INSTANT;
ALTER TABLE parent ADD COLUMN IF NOT EXISTS i1 INT DEFAULT 5;
ALTER TABLE parent ADD COLUMN inv INT INVISIBLE DEFAULT 6;
ALTER TABLE IF EXISTS parent DROP COLUMN IF EXISTS i1;
-- @checkpoint instant-and-invisible
CREATE SEQUENCE sq START WITH 5 INCREMENT BY 5;
CREATE TABLE with_seq ( id BIGINT PRIMARY KEY DEFAULT NEXTVAL(sq), v VARCHAR(5) );
ALTER SEQUENCE sq RESTART 500;
-- @checkpoint sequence
CREATE TABLE mtypes ( id INT PRIMARY KEY, u UUID, i6 INET6, j JSON, ts TIMESTAMP(6) NULL, g VARCHAR(30) AS (CONCAT('g', id)) STORED );
ALTER TABLE mtypes ADD COLUMN u2 UUID NOT NULL DEFAULT '11111111-2222-3333-4444-555555555555' AFTER id, MODIFY i6 VARCHAR(50);
-- @checkpoint mariadb-types
-- @lenient
ALTER TABLE orders ADD COLUMN channel INT;
-- @lenient
-- @checkpoint failed-statements-change-nothing
BEGIN;
COMMIT;
BEGIN;
COMMIT;
-- @checkpoint end
