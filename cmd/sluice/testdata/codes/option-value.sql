SET 'parallelism.default' = 'many';
