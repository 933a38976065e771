CREATE TABLE customers (
  id   BIGINT NOT NULL,
  name STRING,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'shop.public.customers', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'
);

CREATE TABLE orders (
  id          BIGINT NOT NULL,
  customer_id BIGINT,
  placed      DATE,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'shop.public.orders', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'
);

CREATE TABLE lines (
  order_id   BIGINT NOT NULL,
  `position` INT NOT NULL,
  product_id BIGINT,
  quantity   INT,
  PRIMARY KEY (order_id, `position`) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'shop.public.lines', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'
);

CREATE TABLE products (
  id    BIGINT NOT NULL,
  title STRING,
  price DECIMAL(10, 2),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'shop.public.products', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json'
);
