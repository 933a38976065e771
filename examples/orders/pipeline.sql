CREATE VIEW order_lines AS
SELECT o.id AS order_id, l.`position`, c.id AS customer_id, c.name, p.title, l.quantity, l.quantity * p.price AS amount
FROM orders o
JOIN customers c ON o.customer_id = c.id
JOIN lines l ON l.order_id = o.id
JOIN products p ON l.product_id = p.id;

CREATE TABLE revenue (
  customer_id BIGINT NOT NULL,
  name        STRING,
  orders      BIGINT,
  amount      DECIMAL(38, 2),
  PRIMARY KEY (customer_id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'revenue', 'properties.bootstrap.servers' = '${KAFKA_BROKERS}',
  'key.format' = 'json', 'value.format' = 'json'
);

INSERT INTO revenue
SELECT customer_id, MAX(name), COUNT(DISTINCT order_id), SUM(amount)
FROM order_lines
GROUP BY customer_id;
