CREATE DATABASE osc;
USE osc;
CREATE TABLE osc.customers ( id BIGINT NOT NULL AUTO_INCREMENT, email VARCHAR(120) NOT NULL, name VARCHAR(20) DEFAULT NULL, phone VARCHAR(20) NULL, level TINYINT NOT NULL DEFAULT 0, balance DECIMAL(10,2) DEFAULT NULL, is_active TINYINT(1) NOT NULL DEFAULT 1, birthday DATE NULL, created_at DATETIME NOT NULL, updated_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), PRIMARY KEY (id), UNIQUE KEY uk_email (email) ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='shop customers';
CREATE TABLE osc.products ( id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, sku CHAR(12) NOT NULL, title VARCHAR(60) NOT NULL DEFAULT '', price DECIMAL(10,2) NOT NULL, stock INT NOT NULL DEFAULT 0, weight FLOAT NULL, attrs JSON NULL, status ENUM('draft','on','off') NOT NULL DEFAULT 'draft', tags SET('new','hot','sale') NOT NULL DEFAULT '', KEY idx_sku (sku) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE osc.orders ( id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, customer_id BIGINT NOT NULL, status ENUM('new','paid','shipped','done','cancelled') NOT NULL DEFAULT 'new', total DECIMAL(10,2) NOT NULL DEFAULT 0.00, note TEXT NULL, created_at DATETIME(3) NOT NULL, PRIMARY KEY (id), KEY idx_customer (customer_id, created_at) ) DEFAULT CHARSET=utf8mb4;
CREATE TABLE osc.inventory ( warehouse SMALLINT NOT NULL, product_id INT NOT NULL, qty INT NOT NULL, counted_on DATE NULL, PRIMARY KEY (product_id, warehouse) ) DEFAULT CHARSET=utf8mb4;
-- @checkpoint setup
USE osc;
-- as gh-ost does it: ghost table, changelog table, row copy by chunks, applied row events, sentry table, atomic rename
drop /* gh-ost */ table if exists `osc`.`_orders_gho`;
drop /* gh-ost */ table if exists `osc`.`_orders_del`;
drop /* gh-ost */ table if exists `osc`.`_orders_ghc`;
create /* gh-ost */ table `osc`.`_orders_ghc` ( id bigint unsigned auto_increment, last_update timestamp not null DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, hint varchar(64) charset ascii not null, value varchar(4096) charset ascii not null, primary key(id), unique key hint_uidx(hint) ) auto_increment=256 comment='changelog';
create /* gh-ost */ table `osc`.`_orders_gho` like `osc`.`orders`;
alter /* gh-ost */ table `osc`.`_orders_gho` ADD COLUMN region VARCHAR(20) NOT NULL DEFAULT 'none' AFTER status, MODIFY total DECIMAL(18,4) NOT NULL DEFAULT 0, ADD INDEX idx_region (region);
-- @checkpoint gh-ost-created
-- @checkpoint gh-ost-copied
create /* gh-ost */ table `osc`.`_orders_del` ( id int auto_increment primary key ) engine=InnoDB comment='ghost-cut-over-sentry';
drop /* gh-ost */ table if exists `osc`.`_orders_del`;
rename /* gh-ost */ table `osc`.`orders` to `osc`.`_orders_del`, `osc`.`_orders_gho` to `osc`.`orders`;
-- @checkpoint gh-ost-cut-over
drop /* gh-ost */ table if exists `osc`.`_orders_ghc`;
drop /* gh-ost */ table if exists `osc`.`_orders_del`;
-- @checkpoint gh-ost-done
-- as pt-online-schema-change does it: _new table, three triggers, nibble copy, rename, drop
CREATE TABLE `osc`.`_customers_new` LIKE `osc`.`customers`;
ALTER TABLE `osc`.`_customers_new` CHANGE COLUMN phone mobile VARCHAR(40) NULL, ADD COLUMN score INT NOT NULL DEFAULT 10, DROP COLUMN birthday;
-- @checkpoint pt-osc-created
CREATE TRIGGER `pt_osc_osc_customers_del` AFTER DELETE ON `osc`.`customers` FOR EACH ROW DELETE IGNORE FROM `osc`.`_customers_new` WHERE `osc`.`_customers_new`.`id` <=> OLD.`id`;
CREATE TRIGGER `pt_osc_osc_customers_upd` AFTER UPDATE ON `osc`.`customers` FOR EACH ROW REPLACE INTO `osc`.`_customers_new` (`id`, `email`, `name`, `level`, `balance`, `is_active`, `created_at`, `updated_at`, `mobile`) VALUES (NEW.`id`, NEW.`email`, NEW.`name`, NEW.`level`, NEW.`balance`, NEW.`is_active`, NEW.`created_at`, NEW.`updated_at`, NEW.`phone`);
CREATE TRIGGER `pt_osc_osc_customers_ins` AFTER INSERT ON `osc`.`customers` FOR EACH ROW REPLACE INTO `osc`.`_customers_new` (`id`, `email`, `name`, `level`, `balance`, `is_active`, `created_at`, `updated_at`, `mobile`) VALUES (NEW.`id`, NEW.`email`, NEW.`name`, NEW.`level`, NEW.`balance`, NEW.`is_active`, NEW.`created_at`, NEW.`updated_at`, NEW.`phone`);
-- @checkpoint pt-osc-copied
ANALYZE TABLE `osc`.`_customers_new` /* pt-online-schema-change */;
RENAME TABLE `osc`.`customers` TO `osc`.`_customers_old`, `osc`.`_customers_new` TO `osc`.`customers`;
DROP TABLE IF EXISTS `osc`.`_customers_old`;
DROP TRIGGER IF EXISTS `osc`.`pt_osc_osc_customers_del`;
DROP TRIGGER IF EXISTS `osc`.`pt_osc_osc_customers_upd`;
DROP TRIGGER IF EXISTS `osc`.`pt_osc_osc_customers_ins`;
-- @checkpoint pt-osc-done
-- a second gh-ost run on the same table, then an aborted one whose ghost table is dropped
create /* gh-ost */ table `osc`.`_products_gho` like `osc`.`products`;
alter /* gh-ost */ table `osc`.`_products_gho` DROP COLUMN weight;
drop /* gh-ost */ table if exists `osc`.`_products_gho`;
-- @checkpoint gh-ost-aborted
-- a hand-written swap in two steps (not atomic): the table is missing for a while
CREATE TABLE inventory_new LIKE inventory;
ALTER TABLE inventory_new ADD COLUMN bin_code VARCHAR(8) NULL, ADD COLUMN qty2 BIGINT NOT NULL DEFAULT 0;
RENAME TABLE inventory TO inventory_bak;
RENAME TABLE inventory_new TO inventory;
DROP TABLE inventory_bak;
-- @checkpoint end
