CREATE DATABASE typesdb CHARACTER SET utf8mb4;
USE typesdb;
SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION';
SET time_zone = '+00:00';
CREATE TABLE t_int ( id INT PRIMARY KEY, ti TINYINT, tiu TINYINT UNSIGNED, b1 TINYINT(1), bo BOOLEAN, si SMALLINT, siu SMALLINT UNSIGNED, mi MEDIUMINT, miu MEDIUMINT UNSIGNED, i INT, iu INT UNSIGNED, bi BIGINT, biu BIGINT UNSIGNED, iz INT(8) ZEROFILL, bt1 BIT(1), bt7 BIT(7), bt64 BIT(64), y YEAR );
CREATE TABLE t_dec ( id INT PRIMARY KEY, d10_2 DECIMAL(10,2), d65_30 DECIMAL(65,30), d65_0 DECIMAL(65,0), d5 DECIMAL(5), d1_1 DECIMAL(1,1), d9_9 DECIMAL(9,9), d38_18 DECIMAL(38,18), d20_6u DECIMAL(20,6) UNSIGNED, f FLOAT, f7_3 FLOAT(7,3), db DOUBLE, db10_4 DOUBLE(10,4), nu NUMERIC(18,4) );
CREATE TABLE t_time ( id INT PRIMARY KEY, d DATE, t TIME, t1 TIME(1), t3 TIME(3), t6 TIME(6), dt DATETIME, dt1 DATETIME(1), dt3 DATETIME(3), dt6 DATETIME(6), ts TIMESTAMP NULL, ts3 TIMESTAMP(3) NULL, ts6 TIMESTAMP(6) NULL );
CREATE TABLE t_str ( id INT PRIMARY KEY, c1 CHAR(1), c10 CHAR(10), v10 VARCHAR(10), v255 VARCHAR(255), v300 VARCHAR(300), c_bin CHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, c_lat VARCHAR(20) CHARACTER SET latin1, c_asc CHAR(5) CHARACTER SET ascii, b5 BINARY(5), vb5 VARBINARY(5), vb300 VARBINARY(300), tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB, e ENUM('','a','b,c','it''s','é😀'), e_big ENUM('v0','v1','v2','v3','v4','v5','v6','v7','v8','v9','v10','v11','v12','v13','v14','v15','v16','v17','v18','v19','v20','v21','v22','v23','v24','v25','v26','v27','v28','v29','v30','v31','v32','v33','v34','v35','v36','v37','v38','v39','v40','v41','v42','v43','v44','v45','v46','v47','v48','v49','v50','v51','v52','v53','v54','v55','v56','v57','v58','v59','v60','v61','v62','v63','v64','v65','v66','v67','v68','v69','v70','v71','v72','v73','v74','v75','v76','v77','v78','v79','v80','v81','v82','v83','v84','v85','v86','v87','v88','v89','v90','v91','v92','v93','v94','v95','v96','v97','v98','v99','v100','v101','v102','v103','v104','v105','v106','v107','v108','v109','v110','v111','v112','v113','v114','v115','v116','v117','v118','v119','v120','v121','v122','v123','v124','v125','v126','v127','v128','v129','v130','v131','v132','v133','v134','v135','v136','v137','v138','v139','v140','v141','v142','v143','v144','v145','v146','v147','v148','v149','v150','v151','v152','v153','v154','v155','v156','v157','v158','v159','v160','v161','v162','v163','v164','v165','v166','v167','v168','v169','v170','v171','v172','v173','v174','v175','v176','v177','v178','v179','v180','v181','v182','v183','v184','v185','v186','v187','v188','v189','v190','v191','v192','v193','v194','v195','v196','v197','v198','v199','v200','v201','v202','v203','v204','v205','v206','v207','v208','v209','v210','v211','v212','v213','v214','v215','v216','v217','v218','v219','v220','v221','v222','v223','v224','v225','v226','v227','v228','v229','v230','v231','v232','v233','v234','v235','v236','v237','v238','v239','v240','v241','v242','v243','v244','v245','v246','v247','v248','v249','v250','v251','v252','v253','v254','v255','v256','v257','v258','v259','v260','v261','v262','v263','v264','v265','v266','v267','v268','v269','v270','v271','v272','v273','v274','v275','v276','v277','v278','v279','v280','v281','v282','v283','v284','v285','v286','v287','v288','v289','v290','v291','v292','v293','v294','v295','v296','v297','v298','v299'), st SET('x','y','z w','é') );
CREATE TABLE t_json ( id INT PRIMARY KEY, j JSON );
CREATE TABLE t_geo ( id INT PRIMARY KEY, p POINT, p4326 POINT SRID 4326, ls LINESTRING, pg POLYGON, mp MULTIPOINT, g GEOMETRY, gc GEOMETRYCOLLECTION );
CREATE TABLE t_vec ( id INT PRIMARY KEY, v VECTOR(4), w VECTOR(2048) );
CREATE TABLE t_notnull ( id INT PRIMARY KEY, i INT NOT NULL DEFAULT 5, v VARCHAR(10) NOT NULL DEFAULT 'dflt', d DECIMAL(8,3) NOT NULL DEFAULT 1.250, dt DATETIME(3) NOT NULL DEFAULT '2020-01-01 00:00:00.125', ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, dd DATE NOT NULL DEFAULT '0000-00-00', b BIT(4) NOT NULL DEFAULT b'1010', e ENUM('p','q') NOT NULL DEFAULT 'q', s SET('m','n') NOT NULL DEFAULT 'm,n', f FLOAT NOT NULL DEFAULT 1.5, bi BINARY(3) NOT NULL DEFAULT 'ab', t TIME NOT NULL DEFAULT '-01:02:03', y YEAR NOT NULL DEFAULT 2024, bu BIGINT UNSIGNED NOT NULL DEFAULT 18446744073709551615, bo BOOL NOT NULL DEFAULT TRUE, n VARCHAR(5) NULL DEFAULT 'x' );
-- @checkpoint setup
USE typesdb;
SET SESSION sql_mode = 'NO_ENGINE_SUBSTITUTION';
SET time_zone = '+00:00';
-- @checkpoint t_int-inserted
-- @checkpoint t_int-replaced
-- @checkpoint t_int-updated
-- @checkpoint t_dec-inserted
-- @checkpoint t_dec-replaced
-- @checkpoint t_dec-updated
-- @checkpoint t_time-inserted
-- @checkpoint t_time-replaced
-- @checkpoint t_time-updated
-- @checkpoint t_str-inserted
-- @checkpoint t_str-replaced
-- @checkpoint t_str-updated
-- @checkpoint t_json-inserted
-- @checkpoint t_json-replaced
-- @checkpoint t_json-updated
-- @checkpoint t_geo-inserted
-- @checkpoint t_geo-replaced
-- @checkpoint t_geo-updated
-- @checkpoint t_vec-inserted
-- @checkpoint t_vec-replaced
-- @checkpoint t_vec-updated
-- @checkpoint t_notnull-inserted
-- @checkpoint t_notnull-replaced
-- @checkpoint t_notnull-updated
SET time_zone = '+08:00';
ALTER TABLE t_notnull ADD COLUMN ts2 TIMESTAMP NOT NULL DEFAULT '2024-06-01 12:00:00', ADD COLUMN dt2 DATETIME NOT NULL DEFAULT '2024-06-01 12:00:00', ADD COLUMN nn_i INT NOT NULL, ADD COLUMN nn_v VARCHAR(3) NOT NULL, ADD COLUMN nn_dt DATETIME NOT NULL, ADD COLUMN nn_e ENUM('k','l') NOT NULL;
-- @checkpoint end
